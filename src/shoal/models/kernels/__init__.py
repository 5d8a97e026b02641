"""The compiled kernels of `models`: numpy and numba only."""
