"""Named lists and parameters over HTTP."""
