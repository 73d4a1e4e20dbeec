"""Texts that can be written in several ways and are kept in one: IP addresses, positions."""
