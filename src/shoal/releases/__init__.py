"""Several releases of the same people: what they give away together."""
