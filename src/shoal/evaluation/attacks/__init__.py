"""Attacks that are really carried out on a release, with their success rates."""
