"""Density-based clustering anonymization, with and without a class attribute."""
