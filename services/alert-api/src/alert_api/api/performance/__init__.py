"""What rules are worth, over HTTP."""
