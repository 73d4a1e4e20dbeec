"""/v1/mapping-proposals."""
