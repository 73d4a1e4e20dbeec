"""Alerts of shadows in Postgres."""
