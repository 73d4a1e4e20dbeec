"""Advice on definitions that are legal and likely wrong."""
