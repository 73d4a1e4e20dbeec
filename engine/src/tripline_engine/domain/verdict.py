"""What judging a transaction by a rule version comes to."""

from __future__ import annotations

from dataclasses import dataclass

from tripline_engine.domain.rule_book import RuleVersion

MAX_CONTRIBUTORS = 100


@dataclass(frozen=True, slots=True)
class Contributor:
    """A transaction in an alert's window; ``value`` is None for COUNT."""

    transaction_id: str
    event_time: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """An alert is due.

    :ivar row: the transaction's place among the rows judged together
    :ivar value: plain decimal text
    :ivar count: how many transactions are in the window
    :ivar newest: event time (ms) of the newest one before it, if this one is late
    """

    version: RuleVersion
    row: int
    value: str
    count: int
    contributors: tuple[Contributor, ...]
    newest: int | None
    warm: bool
