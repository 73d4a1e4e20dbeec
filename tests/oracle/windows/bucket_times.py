"""Bucket boundaries on the axis of event time (decision 0038)."""

from __future__ import annotations


def bucket_start(time: int, length: int) -> int:
    """The start of the bucket in which that time lies; all in ms."""
    return time // length * length


def next_start(time: int, length: int) -> int:
    """The first beginning of a bucket that is not before that time."""
    return -(-time // length) * length


def highest(*bounds: int | None) -> int | None:
    """The highest of those that are; None where none is."""
    return max((bound for bound in bounds if bound is not None), default=None)
