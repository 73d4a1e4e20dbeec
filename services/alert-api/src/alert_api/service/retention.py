"""Retention of dead letters, those of ours and the engine's: records that nobody could read or that were not accepted
are kept for a while, and of each up to a number and a size.

Each round deletes the oldest ones beyond any of the three bounds. A round that fails is tried again with the next.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from alert_api.errors import StoreUnavailable

log = structlog.get_logger(__name__)

ROUND_SECONDS = 60.0
"""A flood of records has this long to grow beyond the bounds."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What is kept: records up to this age, number and size of all together."""

    days: int
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What there is: the number of dead letters, and the bytes of their keys, values and details."""

    records: int
    bytes: int


class DeadLetters(Protocol):
    """The store of dead letters, for who deletes them."""

    def delete_beyond(self, policy: RetentionPolicy) -> int:
        """Deletes the oldest ones beyond the policy; gives their number. Raises StoreUnavailable."""

    def kept(self) -> Kept:
        """What is there now. Raises StoreUnavailable."""


class Counts(Protocol):
    """The counts of alerts, whose changes are added up beside the work."""

    def settle_counts(self) -> int:
        """Adds up the changes; gives their number. Raises StoreUnavailable."""


class Upkeep(Protocol):
    """What is made or emptied with time, beside the work: the partitions of the alerts, and the alerts of shadows."""

    def round(self) -> None:
        """What is to be done now. Raises StoreUnavailable."""


class RetentionTally(Protocol):
    """The metrics of retention."""

    def deleted(self, count: int) -> None: ...

    def kept(self, kept: Kept) -> None: ...


class Retention:
    """Rounds of deletion, of adding up counts, and of making and emptying partitions, until it is told to stop."""

    def __init__(
        self,
        stores: Sequence[tuple[DeadLetters, RetentionTally]],
        counts: Counts,
        upkeep: Sequence[Upkeep],
        policy: RetentionPolicy,
        stop: threading.Event,
    ) -> None:
        self._stores, self._counts, self._upkeep = stores, counts, upkeep
        self._policy, self._stop = policy, stop

    def run(self) -> None:
        """Work until the stop event is set."""
        while not self._stop.is_set():
            try:
                self.round()
            except StoreUnavailable as error:
                log.warning("database_unavailable", error=str(error), consequence="dead letters are kept")
            self._stop.wait(ROUND_SECONDS)

    def round(self) -> int:
        """One round; gives the number of records deleted. Raises StoreUnavailable."""
        self._counts.settle_counts()
        deleted = sum(self._round(store, tally) for store, tally in self._stores)
        for one in self._upkeep:
            one.round()
        return deleted

    def _round(self, store: DeadLetters, tally: RetentionTally) -> int:
        deleted = store.delete_beyond(self._policy)
        kept = store.kept()
        tally.deleted(deleted)
        tally.kept(kept)
        if deleted:
            log.info("dead_letters_deleted", records=deleted, kept=kept.records, kept_bytes=kept.bytes)
        return deleted
