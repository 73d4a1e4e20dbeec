"""Parsers: raw records and rule events to transactions, definitions and commands."""
