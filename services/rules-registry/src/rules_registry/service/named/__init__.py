"""The use cases of named lists and parameters."""
