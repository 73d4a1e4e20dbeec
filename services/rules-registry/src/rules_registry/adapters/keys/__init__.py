"""API keys on Postgres."""
