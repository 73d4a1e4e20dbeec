"""Filters over event fields, and the named values that they refer to."""
