"""Tables in databases: PostgreSQL and SQLite through ADBC, DuckDB through its own library."""
