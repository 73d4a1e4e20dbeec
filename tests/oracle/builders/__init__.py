"""Builders: definitions, rule events and records for tests that write a history by hand."""
