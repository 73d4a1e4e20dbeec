"""Webhooks in Postgres, and requests to them."""
