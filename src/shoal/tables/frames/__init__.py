"""Frames of other libraries: in as polars, out as the kind that came in."""
