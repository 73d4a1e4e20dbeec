"""Malformed input: values that have to be refused, each wrong in one way."""
