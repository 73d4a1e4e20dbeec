"""A thousand rules: 20 grouping sets on all 3 anchors, all aggregates, windows of a minute to an hour, some filters.

One rule of each grouping set has a limit that is reached now and then; nothing reaches those of the others, so whatever
they say would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from bench.workload.rules import UNREACHABLE, Passing, Subject, Version, limits
from bench.workload.workload import Label, Workload
from tripline_contracts.installed import declared
from tripline_contracts.rules.rule_definition import Function

EVENT_TYPE_FILE: Final = Path(__file__).with_name("payment.yaml")
EVENT_TYPE: Final = declared(EVENT_TYPE_FILE)

# Each with the aggregate of the rule that is to alert: in large groups averages hardly move, and extremes and different
# values, which are counted independently by looking at each payment of a window, would take hours.
_ALERTING: Final[dict[tuple[str, ...], Function]] = {
    ("payeeId",): "COUNT_DISTINCT",
    ("beneficiaryId", "payeeId"): "SUM",
    ("payeeId", "paymentType"): "AVG",
    ("channel", "payeeId"): "MAX",
    ("currency", "payeeId"): "MIN",
    ("beneficiaryId", "payeeId", "paymentType"): "MAX",
    ("channel", "payeeId", "paymentType"): "SUM",
    ("channel", "currency", "payeeId"): "COUNT",
    ("beneficiaryId",): "COUNT_DISTINCT",
    ("beneficiaryId", "paymentType"): "AVG",
    ("beneficiaryId", "channel"): "COUNT",
    ("beneficiaryId", "currency"): "MIN",
    ("beneficiaryId", "currency", "paymentType"): "SUM",
    ("beneficiaryId", "channel", "currency"): "MAX",
    (): "SUM",
    ("paymentType",): "COUNT",
    ("channel",): "SUM",
    ("currency",): "COUNT",
    ("channel", "paymentType"): "SUM",
    ("channel", "currency", "paymentType"): "COUNT",
}
GROUPINGS: Final = tuple(_ALERTING)
_SHARES: Final[dict[Function, float]] = {
    "SUM": 0.3,
    "COUNT": 0.3,
    "AVG": 0.15,
    "MAX": 0.1,
    "MIN": 0.05,
    "COUNT_DISTINCT": 0.1,
}
_COUNTED: Final = ("beneficiaryId", "payeeId", "currency")
_FILTERED: Final = 0.2

FILTERS: Final = (
    Passing("paymentType", "=", "CRD"),
    Passing("paymentAmount", ">=", "500"),
    Passing("channel", "=", "ONLINE"),
    Passing("currency", "!=", "EUR"),
)


def subjects(count: int, seed: int) -> list[Subject]:
    """So many rules, their grouping sets by turns; the first of each grouping set is one that is to alert."""
    random, subjects = np.random.default_rng(seed), []
    for number in range(count):
        grouping = GROUPINGS[number % len(GROUPINGS)]
        minutes, chance = int(random.integers(1, 61)), random.random()
        drawn = tuple(_SHARES)[int(random.choice(len(_SHARES), p=tuple(_SHARES.values())))]
        function = _ALERTING[grouping] if number < len(GROUPINGS) else drawn
        passing = FILTERS[int(random.integers(len(FILTERS)))] if chance < _FILTERED else None
        name = f"{function} by {', '.join(grouping) or 'nothing'}, {minutes} minutes"
        counted = next(name for name in _COUNTED if name not in grouping)
        subjects.append(Subject(number + 1, name, function, grouping, 60 * minutes, passing, counted))
    return subjects


def versions(load: Workload, rules: Sequence[Subject], alerts_per_rule: int) -> list[Version]:
    """Their only versions, in the order of rules.v1: one of each grouping set alerts about so often, others never.

    So often over all payments: sums of large groups wander, and would stay above a limit made for the last ones alone.
    """
    alerting = rules[: len(GROUPINGS)]
    reached = limits(replace(load, preloaded=0), alerts_per_rule, alerting)
    return [
        Version(rule, 1, log_position, reached.get(rule.rule_id, UNREACHABLE), 0)
        for log_position, rule in enumerate(rules)
    ]


def labels(count: int, seed: int) -> tuple[Label, ...]:
    """A channel and a currency for each of so many payments."""
    random = np.random.default_rng([seed, 1])
    return tuple(
        Label(
            name, EVENT_TYPE.field(name).values, random.integers(0, len(EVENT_TYPE.field(name).values), count)
        )
        for name in ("channel", "currency")
    )
