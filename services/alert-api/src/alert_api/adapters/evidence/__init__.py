"""Keys that evidence is signed with."""
