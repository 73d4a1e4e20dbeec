"""Generators: the parts of a random history, each drawn from a seeded random source."""
