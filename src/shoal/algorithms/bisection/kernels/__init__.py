"""The compiled kernels of `bisection`: numpy and numba only."""
