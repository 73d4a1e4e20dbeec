"""A thousand rules: 20 grouping sets on all 3 anchors, all aggregates, windows of a minute to an hour, some filters.

One rule of each grouping set has a limit that is reached now and then; nothing reaches those of the others, so whatever
they say would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from bench.rules import UNREACHABLE, Passing, Subject, Version, limits
from bench.workload import Label, Workload
from tripline_contracts.installed import declared
from tripline_contracts.rule_definition import Function

EVENT_TYPE_FILE: Final = Path(__file__).with_name("payment.yaml")
EVENT_TYPE: Final = declared(EVENT_TYPE_FILE)

_BY_PAYEE: Final[tuple[tuple[str, ...], ...]] = (
    ("payeeId",),
    ("beneficiaryId", "payeeId"),
    ("payeeId", "paymentType"),
    ("channel", "payeeId"),
    ("currency", "payeeId"),
    ("beneficiaryId", "payeeId", "paymentType"),
    ("channel", "payeeId", "paymentType"),
    ("channel", "currency", "payeeId"),
)
_BY_BENEFICIARY: Final[tuple[tuple[str, ...], ...]] = (
    ("beneficiaryId",),
    ("beneficiaryId", "paymentType"),
    ("beneficiaryId", "channel"),
    ("beneficiaryId", "currency"),
    ("beneficiaryId", "currency", "paymentType"),
    ("beneficiaryId", "channel", "currency"),
)
_BY_NEITHER: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("paymentType",),
    ("channel",),
    ("currency",),
    ("channel", "paymentType"),
    ("channel", "currency", "paymentType"),
)
GROUPINGS: Final = (*_BY_PAYEE, *_BY_BENEFICIARY, *_BY_NEITHER)

_FUNCTIONS: Final[tuple[Function, ...]] = ("SUM", "COUNT", "AVG", "MAX", "MIN", "COUNT_DISTINCT")
_SHARES: Final = (0.3, 0.3, 0.15, 0.1, 0.05, 0.1)
# Extremes and different values are counted independently by looking at each payment of a window.
_OF_LARGE_GROUPS: Final[tuple[Function, ...]] = ("SUM", "COUNT", "AVG")
_SMALL_GROUPS: Final = frozenset({"payeeId", "beneficiaryId"})
_FILTERED: Final = 0.2


FILTERS: Final = (
    Passing("paymentType", "=", "CRD"),
    Passing("paymentAmount", ">=", "500"),
    Passing("channel", "=", "ONLINE"),
    Passing("currency", "!=", "EUR"),
)


def subjects(count: int, seed: int) -> list[Subject]:
    """So many rules, their grouping sets by turns; the first of each grouping set is one that is to alert."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        grouping = GROUPINGS[number % len(GROUPINGS)]
        minutes = int(random.integers(1, 61))
        function = _FUNCTIONS[int(random.choice(len(_FUNCTIONS), p=_SHARES))]
        if number < len(GROUPINGS):
            few = _SMALL_GROUPS.isdisjoint(grouping)
            function = (_OF_LARGE_GROUPS if few else _FUNCTIONS)[number % (3 if few else len(_FUNCTIONS))]
        passing = FILTERS[int(random.integers(len(FILTERS)))] if random.random() < _FILTERED else None
        name = f"rule {number + 1}: {function} by {', '.join(grouping) or 'nothing'}, {minutes} minutes"
        found.append(Subject(number + 1, name, function, grouping, 60 * minutes, passing, "currency"))
    return found


def versions(load: Workload, rules: Sequence[Subject], alerts_per_rule: int) -> list[Version]:
    """Their only versions, in the order of rules.v1: one of each grouping set alerts about so often, others never."""
    alerting = rules[: len(GROUPINGS)]
    reached = limits(load, alerts_per_rule, alerting)
    return [
        Version(rule, 1, place, reached.get(rule.rule_id, UNREACHABLE), 0) for place, rule in enumerate(rules)
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
