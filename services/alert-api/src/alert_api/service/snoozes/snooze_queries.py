"""Queries of snoozes and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from alert_api.domain.cases.snooze import Snooze, SnoozeState


@dataclass(frozen=True, slots=True)
class StoredSnooze:
    """A snooze, what its rule is called now, and the alerts that it covers: how many, and the event times of the first
    and the last."""

    snooze: Snooze
    alerts: int = 0
    first: int | None = None
    last: int | None = None
    rule_name: str | None = None


@dataclass(frozen=True, slots=True)
class SnoozePage:
    """Some snoozes, newest first; ``following`` is the id of the last where there are more."""

    snoozes: Sequence[StoredSnooze]
    following: int | None


@dataclass(frozen=True, slots=True)
class SnoozeCounts:
    """Snoozes that wait for a second person, those in force, and the alerts that these cover."""

    requested: int
    in_force: int
    suppressed: int


class SnoozeReader(Protocol):
    """The snoozes, to look at; `now` in ms since the epoch. All raise StoreUnavailable when the database is away."""

    def page(self, state: SnoozeState | None, now: int, before: int | None, limit: int) -> SnoozePage:
        """At most ``limit`` of the snoozes with ids below ``before``, of one state or of all."""

    def counts(self, now: int) -> SnoozeCounts:
        """How many there are now."""

    def covering(self, alert_ids: Sequence[str]) -> Mapping[str, int]:
        """The snoozes that cover these alerts, by alert; those that none covers are left out."""

    def get(self, snooze_id: int) -> StoredSnooze:
        """One snooze. Raises SnoozeNotFound."""
