"""/v1/audit."""
