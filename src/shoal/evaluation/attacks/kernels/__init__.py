"""Compiled code of the attacks."""
