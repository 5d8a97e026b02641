"""One file per language: what the English texts of reports are in it."""
