"""Deliveries to webhooks, one after the other for each."""
