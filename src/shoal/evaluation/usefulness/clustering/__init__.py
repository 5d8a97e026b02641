"""Cluster analysis of the original and of the release: features, clusterers, and how far they agree."""
