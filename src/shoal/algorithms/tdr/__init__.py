"""Top-down refinement: its conditions, cut values, groups, search and outcome."""
