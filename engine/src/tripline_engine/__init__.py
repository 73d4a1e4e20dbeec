"""Tripline engine: judges transactions by rules that change while it runs."""
