"""The flagship algorithm: first groups, then a search that refines them."""
