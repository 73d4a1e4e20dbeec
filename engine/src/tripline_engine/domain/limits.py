"""The limit that a condition holds each transaction against: its own, or a parameter as it stood at its acceptance."""

from __future__ import annotations

from tripline_contracts import decimals
from tripline_contracts.conditions import Condition
from tripline_contracts.names import Parameter
from tripline_engine.domain.history import History
from tripline_engine.domain.limit import Limit
from tripline_engine.domain.named import Named

LimitRun = tuple[int, int, Limit]
"""The history's rows from the first number to before the second, and what they are held against."""


def limits_of(
    condition: Condition, anchor: str, named: Named, history: History, start: int, end: int
) -> list[LimitRun]:
    """For the anchor's history from row ``start`` to ``end``."""
    operator, limit = condition.operator, condition.limit
    if not isinstance(limit, Parameter):
        return [(start, end, Limit(operator, decimals.to_scaled(limit)))]
    offset = history.offset
    runs = named.parameter(limit.name).runs(anchor, start + offset, end + offset)
    return [(first - offset, until - offset, Limit(operator, scaled)) for first, until, scaled in runs]
