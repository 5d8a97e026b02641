"""The command line: one file per verb."""

import os

# Kernels compile a fifth faster this way and run as fast. Only here: a library leaves alone how other code compiles.
os.environ.setdefault("NUMBA_OPT", "1")
# No plugin of pydantic has a say about jobs; looking for some reads the description of every installed package.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
