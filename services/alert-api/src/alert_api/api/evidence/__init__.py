"""Evidence over HTTP."""
