"""The threshold of a condition at each transaction: its constant, or a parameter's value at its acceptance."""

from __future__ import annotations

from tripline_contracts import decimals
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.relative_limits import Baseline, Number, RelativeLimit
from tripline_engine.domain.history.history import History
from tripline_engine.domain.rules.measures import Measure
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.threshold import Threshold

ThresholdRun = tuple[int, int, Threshold]
"""The history's rows from the first number to before the second, and their threshold."""
NumberRun = tuple[int, int, tuple[int | None, ...]]
"""Such rows, and the numbers of their relative limit, scaled by 10⁶; None for a parameter without a value."""


def threshold_runs(
    measure: Measure, anchor: str, named: NamedValues, history: History, start: int, end: int
) -> list[ThresholdRun]:
    """The thresholds of a condition for the anchor's history from row ``start`` to ``end``."""
    if measure.constant is not None:
        return [(start, end, measure.constant)]
    if isinstance(measure.source, Baseline) or isinstance(measure.source.limit, RelativeLimit):
        return []
    runs = _runs_of(measure.source.limit, anchor, named, history, start, end)
    return [(first, until, Threshold(measure.source.operator, scaled)) for first, until, scaled in runs]


def number_runs(
    condition: Condition, anchor: str, named: NamedValues, history: History, start: int, end: int
) -> list[NumberRun]:
    """What a relative limit goes by for the anchor's history from row ``start`` to ``end``."""
    assert isinstance(condition.limit, RelativeLimit)
    runs: list[NumberRun] = [(start, end, ())]
    for number in condition.limit.numbers:
        runs = [
            (max(first, other), min(until, other_until), (*numbers, scaled))
            for first, until, numbers in runs
            for other, other_until, scaled in _runs_of(number, anchor, named, history, start, end)
            if max(first, other) < min(until, other_until)
        ]
    return runs


def _runs_of(
    number: Number, anchor: str, named: NamedValues, history: History, start: int, end: int
) -> list[tuple[int, int, int | None]]:
    """The values, scaled by 10⁶, of a number or a parameter; None where that has none."""
    if not isinstance(number, Parameter):
        return [(start, end, decimals.to_scaled(number))]
    offset = history.offset
    runs = named.parameter(number.name).runs(anchor, start + offset, end + offset)
    return [(first - offset, until - offset, scaled) for first, until, scaled in runs]
