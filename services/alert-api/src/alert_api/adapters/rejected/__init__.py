"""Rejected records in Postgres, and the way back to the event topic."""
