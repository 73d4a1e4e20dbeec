"""The limit that a condition holds each transaction against: its own, or a parameter as it stood at its acceptance."""

from __future__ import annotations

from tripline_contracts.names import Parameter
from tripline_engine.domain.history.history import History
from tripline_engine.domain.rules.measures import Measure
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.threshold import Threshold

ThresholdRun = tuple[int, int, Threshold]
"""The history's rows from the first number to before the second, and what they are held against."""


def threshold_runs(
    part: Measure, anchor: str, named: NamedValues, history: History, start: int, end: int
) -> list[ThresholdRun]:
    """For the anchor's history from row ``start`` to ``end``."""
    if part.constant is not None:
        return [(start, end, part.constant)]
    parameter, offset = part.condition.limit, history.offset
    assert isinstance(parameter, Parameter)
    runs = named.parameter(parameter.name).runs(anchor, start + offset, end + offset)
    return [
        (first - offset, until - offset, Threshold(part.condition.operator, scaled))
        for first, until, scaled in runs
    ]
