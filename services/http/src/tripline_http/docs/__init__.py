"""The documentation of an API for people."""
