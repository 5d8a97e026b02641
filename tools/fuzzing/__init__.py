"""Random jobs, and a reader of releases that shares nothing with the code it judges."""
