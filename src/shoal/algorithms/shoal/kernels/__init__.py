"""The compiled kernels of `shoal`: numpy and numba only."""
