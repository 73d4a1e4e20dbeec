"""Estimates of what a rule will say and cost, before it is published."""
