"""The compiled kernels of `kaca`: numpy and numba only."""
