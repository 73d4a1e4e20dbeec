"""Decisions on named lists and parameters, and entries of lists as they come in."""
