"""Several algorithms and several k on the same table, side by side."""
