"""The audit trail on Postgres."""
