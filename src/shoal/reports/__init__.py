"""The page about a run, its sections, and the view of a result in a notebook."""
