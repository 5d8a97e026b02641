"""The command line: one file per verb."""

import os

# Kernels compile faster this way and run as fast, some faster. Only here: a library leaves alone how others compile.
os.environ.setdefault("NUMBA_OPT", "2")
# No plugin of pydantic has a say about jobs; looking for some reads the description of every installed package.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
