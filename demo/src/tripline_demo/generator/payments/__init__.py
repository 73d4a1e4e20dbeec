"""Payments: the traffic of the event type `transaction`."""
