"""The algorithms that group records: one folder per family, each with its own kernels."""
