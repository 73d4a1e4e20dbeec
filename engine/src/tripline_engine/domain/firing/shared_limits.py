"""Rules that differ by their limits alone, as those of a sweep: where even the loosest one holds nowhere, none does.

limits 500, 1000, 2000 …     > 500 of all rows     > 1000, > 2000 … of the few where that holds
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tripline_contracts.rules.relative_limits import Excerpt
from tripline_contracts.rules.rule_definition import Function, Operator
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.rules.measures import ChainKey, DistinctKey, Measure, TotalsKey
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.threshold import Threshold
from tripline_engine.domain.transactions.columns import Amounts

_LOOSER: Final[dict[Operator, Operator]] = {">": ">=", ">=": ">=", "<": "<=", "<=": "<="}
_COMPARED: Final[frozenset[Function]] = frozenset({"SUM", "COUNT", "AVG", "MIN", "MAX", "COUNT_DISTINCT"})

_RARE: Final = 8
"""The loosest limit spares the others nothing where it holds at more than one row in so many: to gather these costs as
much."""

_Key = tuple[TotalsKey | None, ChainKey | None, DistinctKey | None, Function, int, Excerpt, Operator]


class SharedLimits:
    """The loosest limits of versions that read the same aggregates of n transactions."""

    def __init__(self, versions: Iterable[RuleVersion]) -> None:
        limits: dict[_Key, list[int]] = {}
        for version in versions:
            for measure in () if version.definition.reset_on_alert else version.measures:
                key, limit = _key(measure), measure.constant
                if key is not None and limit is not None and limit.scaled is not None:
                    limits.setdefault(key, []).append(limit.scaled)
        self._loosest = {
            key: Threshold(key[-1], min(scaled) if key[-1] == ">=" else max(scaled))
            for key, scaled in limits.items()
            if len(set(scaled)) > 1
        }
        self._rows: dict[_Key, Int64Array | None] = {}

    def rows(self, measure: Measure, counts: Int64Array, values: Amounts) -> Int64Array | None:
        """The numbers, from 0, of the rows where the measure's limit may hold; None where each row is to be looked at.

        :param counts: int64, n: how many transactions contribute
        :param values: n, what the measure has there
        """
        # nearly always so in a live engine, which then makes no keys
        if not self._loosest:
            return None
        key = _key(measure)
        if key is None or key not in self._loosest:
            return None
        if key not in self._rows:
            holds = self._loosest[key].matches(measure.function, counts, values.low, values.high)
            is_rare = _RARE * np.count_nonzero(holds) <= len(holds)
            self._rows[key] = np.flatnonzero(holds) if is_rare else None
        return self._rows[key]


def _key(measure: Measure) -> _Key | None:
    """Equal for measures with equal values whose limits can be ordered; None of others."""
    is_kept = measure.totals is not None or measure.distinct is not None
    if measure.constant is None or not is_kept or measure.function not in _COMPARED:
        return None
    looser = _LOOSER.get(measure.condition.operator)
    if looser is None:
        return None
    windows = measure.totals, measure.chain, measure.distinct
    return *windows, measure.function, measure.window_ms, measure.excerpt, looser
