"""How each part of the line is, from what can be seen of it."""
