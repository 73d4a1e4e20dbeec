"""Authorisations of card payments: the traffic of the event type `card-authorisation`."""
