"""The workbench in the browser: `shoal serve`. It decides nothing: it writes jobs and calls what everybody calls."""
