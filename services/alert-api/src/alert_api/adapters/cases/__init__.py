"""Episodes, cases and the log of work in Postgres."""
