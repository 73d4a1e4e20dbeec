"""Filters that people keep under names, over HTTP."""
