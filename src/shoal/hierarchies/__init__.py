"""Hierarchies of values: trees, builders, files."""
