"""Released values: how they are written, and how they are read back."""
