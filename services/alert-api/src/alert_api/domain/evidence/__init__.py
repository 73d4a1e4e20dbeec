"""Bundles of evidence: what they hold, and whether one is as it was signed."""
