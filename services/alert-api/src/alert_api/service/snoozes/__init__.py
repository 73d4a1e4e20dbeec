"""Snoozes: queries, and what people do about them."""
