"""Verdicts: a rule version's alert for one transaction, before it is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.relative_limits import Baseline
from tripline_engine.domain.rules.rule_version import RuleVersion

MAX_CONTRIBUTORS = 100
"""Listed in an alert; the conditions of a chained rule share them, so that every alert fits a Kafka record."""


@dataclass(frozen=True, slots=True)
class Contributor:
    """A transaction in an alert's window; ``value`` is None for COUNT."""

    transaction_id: str
    event_time: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what the value over the exact window lies; None where that can't be told."""

    at_least: str | None
    at_most: str | None


@dataclass(frozen=True, slots=True)
class MeasuredLimit:
    """The measure behind a relative limit; ``times`` and ``plus`` are None for a parameter without a value."""

    measure: Baseline
    value: str | None
    times: str | None
    plus: str | None
    count: int
    contributors: tuple[Contributor, ...]
    deviations: DeviationsMore | None = None


@dataclass(frozen=True, slots=True)
class DeviationsMore:
    """How many deviations a limit has besides, None for a parameter without a value; and the deviation, if any."""

    number: str | None
    deviation: str | None


@dataclass(frozen=True, slots=True)
class Measured:
    """One condition's value against its limit.

    :ivar value: plain decimal text, as ``limit`` is; None of nothing
    :ivar count: how many transactions of the window contribute
    :ivar bounds: of a bucketed window
    :ivar behind: what a relative limit is made of
    """

    condition: Condition
    value: str | None
    limit: str | None
    holds: bool
    count: int
    contributors: tuple[Contributor, ...]
    bounds: Bounds | None = None
    behind: MeasuredLimit | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """Conditions that are weighed together, by their numbers in the order of the tree, from 1.

    :ivar weight: plain decimal text; None of a parameter without a value
    """

    weight: str | None
    holds: bool
    conditions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Weighing:
    """One weighting of a rule's tree.

    :ivar total: of the weights of what holds, plain decimal text as ``at_least`` is; None where a weight is
    """

    total: str | None
    at_least: str | None
    holds: bool
    weights: tuple[Weighed, ...]


@dataclass(frozen=True, slots=True)
class LateOne:
    """The late transaction for which another was judged again; its event time in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """An alert is due.

    :ivar row: the place, among the rows judged together, of the transaction that brought it about
    :ivar measured: one for each condition of the rule
    :ivar weighed: one for each weighting in it, in the order of the tree
    :ivar newest: event time (ms) of the newest one before it, if this one is late
    :ivar late_one: if the transaction was judged again, for which late one
    :ivar again: and its event time (ms)
    :ivar partial: as JSON, id, event time and the fields that the version uses, if the transaction is not among
        those that have just come in
    """

    version: RuleVersion
    row: int
    measured: tuple[Measured, ...]
    newest: int | None
    warm: bool
    late_one: LateOne | None = None
    again: int | None = None
    partial: Mapping[str, Any] | None = None
    weighed: tuple[Weighing, ...] = ()
