"""Checks of every request of an app, before its view: what no new endpoint can forget."""
