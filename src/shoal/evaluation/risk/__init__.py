"""How many people stand out: class sizes and combinations of columns."""
