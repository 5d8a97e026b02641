"""The compiled kernels of `safe_groups`: numpy and numba only."""
