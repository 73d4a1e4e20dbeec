"""Mappings proposed from the first bytes of files, and the first rows as they would be read."""
