"""Mondrian: median cuts of the widest attribute."""
