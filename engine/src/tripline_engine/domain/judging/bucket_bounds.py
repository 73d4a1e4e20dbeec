"""Bounds of the value over the exact window, where a window consists of whole buckets."""

from __future__ import annotations

from tripline_contracts.rules.rule_definition import Function
from tripline_engine.domain.buckets.bucket_readings import BucketReading
from tripline_engine.domain.judging.verdict import Bounds
from tripline_engine.domain.rules.threshold import SCALE, shown


def bounds_of(function: Function, window: BucketReading) -> Bounds:
    """From one window's evaluation."""
    count, value = window.count, window.value(function)
    if function == "AVG":
        return Bounds(None, None)
    least, greatest = value, value
    if function == "COUNT":
        least, greatest = (count - window.edge_count) * SCALE, count * SCALE
    elif function == "SUM" and window.edge_count:
        least, greatest = value - window.edge_positive, value - window.edge_negative
    told = Bounds(_shown(function, count, least), _shown(function, count, greatest))
    if not window.edge_count or function not in ("MIN", "MAX"):
        return told
    # what remains without the first bucket bounds the extreme on its other side
    if function == "MIN":
        return Bounds(told.at_least, shown("MIN", window.has_rest, window.rest_least))
    return Bounds(shown("MAX", window.has_rest, window.rest_greatest), told.at_most)


def _shown(function: Function, count: int, scaled: int) -> str | None:
    return shown("SUM" if function == "COUNT" else function, count, scaled)
