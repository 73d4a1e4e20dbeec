"""What rules are worth, from Postgres."""
