"""/v1/cases: the unit of work on alerts."""
