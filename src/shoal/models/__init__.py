"""Privacy models: what is required of every group."""
