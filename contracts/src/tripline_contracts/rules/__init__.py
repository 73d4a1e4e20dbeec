"""Rule definitions: their values, and the parsers of their many spellings."""
