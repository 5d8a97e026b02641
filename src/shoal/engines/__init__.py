"""Where the clustering runs."""
