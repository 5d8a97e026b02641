"""What makes any grouping safe for any model: repair, suppression, several quasi-identifier sets."""
