"""The compiled kernels of `lower_bound`: numpy and numba only."""
