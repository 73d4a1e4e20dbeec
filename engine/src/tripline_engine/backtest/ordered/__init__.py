"""Histories in order of event time: of what is known today, or of files."""
