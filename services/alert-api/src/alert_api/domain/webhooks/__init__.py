"""Webhooks: where notices go, under what signature, and to which addresses never."""
