"""Named lists and parameters on Postgres."""
