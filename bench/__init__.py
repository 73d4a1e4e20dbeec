"""Measurements of the running line against bars; `python -m bench` runs them."""
