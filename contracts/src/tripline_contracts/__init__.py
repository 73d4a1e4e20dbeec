"""The formats that cross a process boundary in Tripline: rule definitions, event types, topics and schemas.

Nothing is imported here on purpose: an engine worker needs `decimals` and must not pay for the schema
checker.
"""
