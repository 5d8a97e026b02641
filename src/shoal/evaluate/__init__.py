"""How safe and how useful a release is: risk, attacks, statistics, comparison and the report."""
