"""Purposes of rules on Postgres."""
