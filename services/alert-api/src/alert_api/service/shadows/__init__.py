"""Shadows beside their rules: what both gave, and what only one of them."""
