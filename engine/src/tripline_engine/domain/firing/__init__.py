"""Firing state: what later alerts of a rule depend on."""
