"""Compiled parts of the check."""
