"""The use cases, and the ports through which they see the world."""
