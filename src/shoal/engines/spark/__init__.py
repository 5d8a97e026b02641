"""Tables that a cluster holds: Spark counts and deals out, the clustering and the check are ours."""
