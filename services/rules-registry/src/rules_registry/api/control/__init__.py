"""Control commands and backfills over HTTP."""
