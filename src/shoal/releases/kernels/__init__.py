"""Loops over classes of two releases: which can hold the same person, and how many people can take each way."""
