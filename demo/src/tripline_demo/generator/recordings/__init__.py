"""Recordings of transactions, and playing them again."""
