"""Tables from files and frames: formats, scales, missing values, distinct values."""
