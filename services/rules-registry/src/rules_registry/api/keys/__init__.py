"""API keys over HTTP, for admins."""
