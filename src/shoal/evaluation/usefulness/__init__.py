"""What an analyst still finds in a release: statistics, queries, models, clusters."""
