"""The formats of files that tables are read from and written to."""
