"""Building an engine's checkpoint again from what it has recorded."""
