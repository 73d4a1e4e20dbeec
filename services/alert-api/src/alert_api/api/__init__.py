"""HTTP: the alerts under /v1, and the console at /."""
