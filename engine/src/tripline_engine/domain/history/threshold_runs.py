"""The threshold of a condition at each transaction: its constant, or a parameter's value at its acceptance."""

from __future__ import annotations

from tripline_contracts.filters.named_values import Parameter
from tripline_engine.domain.history.history import History
from tripline_engine.domain.rules.measures import Measure
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.threshold import Threshold

ThresholdRun = tuple[int, int, Threshold]
"""The history's rows from the first number to before the second, and their threshold."""


def threshold_runs(
    measure: Measure, anchor: str, named: NamedValues, history: History, start: int, end: int
) -> list[ThresholdRun]:
    """The thresholds of a condition for the anchor's history from row ``start`` to ``end``."""
    if measure.constant is not None:
        return [(start, end, measure.constant)]
    parameter, offset = measure.condition.limit, history.offset
    assert isinstance(parameter, Parameter)
    runs = named.parameter(parameter.name).runs(anchor, start + offset, end + offset)
    return [
        (first - offset, until - offset, Threshold(measure.condition.operator, scaled))
        for first, until, scaled in runs
    ]
