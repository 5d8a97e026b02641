"""CSV: found out, read strictly, written, and read back."""
