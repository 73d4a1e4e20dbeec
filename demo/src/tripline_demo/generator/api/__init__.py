"""The generator's HTTP API."""
