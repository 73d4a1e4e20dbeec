"""The port to what rules are worth."""
