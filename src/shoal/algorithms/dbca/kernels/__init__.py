"""The compiled kernels of `dbca`: numpy and numba only."""
