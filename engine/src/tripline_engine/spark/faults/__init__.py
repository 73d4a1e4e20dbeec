"""Faults injected on purpose, for tests of recovery."""
