"""Looking at all parts of the line."""
