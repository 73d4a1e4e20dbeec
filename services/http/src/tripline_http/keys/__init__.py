"""API keys: the file that they are in, and what a request with one, or without, is answered."""
