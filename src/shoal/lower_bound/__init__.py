"""How much loss no release can avoid."""
