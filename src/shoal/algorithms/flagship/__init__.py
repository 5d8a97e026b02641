"""The parts of the flagship algorithm; `shoal.algorithms.shoal` puts them together."""
