"""The compiled kernels of `mondrian`: numpy and numba only."""
