"""How the line is, over HTTP."""
