"""The compiled kernels of `greedy`: numpy and numba only."""
