"""Transactions as bytes and as columns: parsing, hashing, sharding."""
