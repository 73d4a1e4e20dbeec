"""The same rules in other systems, each in a process and an environment of its own."""
