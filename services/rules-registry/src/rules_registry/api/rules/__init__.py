"""Rules over HTTP: publish, change, import; their history and status."""
