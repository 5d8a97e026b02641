"""From a job to a verified release: the route of the data, its outputs, its certificate."""
