"""What is asked for: the settings of a run, and the checks that find every problem of them at once."""
