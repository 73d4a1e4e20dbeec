"""Between what the value over the exact window lies, where a window consists of whole buckets."""

from __future__ import annotations

from tripline_contracts.rules.rule_definition import Function
from tripline_engine.domain.buckets.bucket_layout import (
    O_COUNT,
    O_EDGE,
    O_GREATEST,
    O_LEAST,
    O_NEGATIVE,
    O_POSITIVE,
    O_REST,
    O_REST_GREATEST,
    O_REST_LEAST,
    O_SUM,
)
from tripline_engine.domain.judging.verdict import Bounds
from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.rules.threshold import SCALE, shown

VALUE_AT: dict[Function, int] = {
    "SUM": O_SUM,
    "AVG": O_SUM,
    "COUNT": O_SUM,
    "MIN": O_LEAST,
    "MAX": O_GREATEST,
}
"""Where an evaluation's value stands."""


def bounds_of(function: Function, window: Array) -> Bounds:
    """From one window's evaluation (int64, `bucket_layout.OUT`)."""
    count, value = int(window[O_COUNT]), _number(window, VALUE_AT[function])
    if function == "AVG":
        return Bounds(None, None)
    least, greatest = value, value
    if function == "COUNT":
        least, greatest = (count - int(window[O_EDGE])) * SCALE, count * SCALE
    elif function == "SUM" and window[O_EDGE]:
        least, greatest = value - _number(window, O_POSITIVE), value - _number(window, O_NEGATIVE)
    told = Bounds(_shown(function, count, least), _shown(function, count, greatest))
    if not window[O_EDGE] or function not in ("MIN", "MAX"):
        return told
    # what remains without the first bucket bounds the extreme on its other side
    rest = int(window[O_REST])
    if function == "MIN":
        return Bounds(told.at_least, shown("MIN", rest, _number(window, O_REST_LEAST)))
    return Bounds(shown("MAX", rest, _number(window, O_REST_GREATEST)), told.at_most)


def _shown(function: Function, count: int, scaled: int) -> str | None:
    return shown("SUM" if function == "COUNT" else function, count, scaled)


def _number(window: Array, at: int) -> int:
    return join(int(window[at]) & (2**64 - 1), window[at + 1])
