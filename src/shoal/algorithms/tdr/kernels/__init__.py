"""The compiled kernels of `tdr`: numpy and numba only."""
