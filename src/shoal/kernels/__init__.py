"""Compiled kernels that several rooms share; those of one algorithm lie beside it."""
