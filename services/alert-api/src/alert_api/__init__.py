"""Tripline's alerts: stored by the projector, served and acknowledged over HTTP, shown in the console."""
