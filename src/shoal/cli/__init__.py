"""The command line: one file per verb."""

import os

# One kernel of the search runs more than twice as fast as at numba's own level 3, and compiling takes as long.
# Only here: a library leaves alone how other code compiles.
os.environ.setdefault("NUMBA_OPT", "2")
# No plugin of pydantic has a say about jobs; looking for some reads the description of every installed package.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
