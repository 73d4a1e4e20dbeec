"""A shadow beside its rule over a span of time: the transactions that both, or only one of them, alerted about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from alert_api.service.alert_counts import Span


class HourOfBoth(NamedTuple):
    """Transactions by the hour of their event time, counted since the epoch."""

    hour: int
    both: int
    only_active: int
    only_shadow: int


class Alerted(NamedTuple):
    """A transaction that was alerted about; its event time in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class ShadowComparison:
    """What a shadow and its rule gave.

    :ivar hours: ascending, those without alerts left out
    :ivar newest_only_active: some of the newest that the rule alone alerted about, newest first
    :ivar newest_only_shadow: and of those that the shadow alone did
    """

    hours: Sequence[HourOfBoth]
    newest_only_active: Sequence[Alerted]
    newest_only_shadow: Sequence[Alerted]


class ShadowReader(Protocol):
    """Raises StoreUnavailable when the database is away."""

    def compare(self, rule_id: int, version: int, span: Span) -> ShadowComparison:
        """Alerts of that version as a shadow beside all that the rule's other versions gave, by event time."""
