"""The projector's loop: poll records, store them, only then commit their offsets.

    take --> read --> database commit --> offsets commit
                 ^--- a kill anywhere here only means that the same records come again, and change nothing

A database outage is waited for with the records in hand, so the position is never lost. A record that cannot be
read or stored is dead-lettered with its reason; the pipeline continues.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
import tenacity
from tenacity import RetryCallState

from alert_api.errors import RecordNotStorable, Stopped, StoreUnavailable
from alert_api.service.records import ReceivedAlert, Record, Unreadable, unreadable
from alert_api.service.void_commands import VoidCommand
from tripline_http.lifecycle import retrying

log = structlog.get_logger(__name__)


class AlertSource(Protocol):
    """The consumer: records in order per partition, and commits of their offsets."""

    def take(self) -> Sequence[Record]:
        """The next records, perhaps none after a short wait."""

    def keep_membership(self) -> None:
        """Stay a member of the consumer group while nothing is taken."""

    def commit(self, records: Sequence[Record]) -> None:
        """These records are done: after a restart the next ones come."""


Read = Callable[[Record], ReceivedAlert | VoidCommand | Unreadable | None]
"""What a record is, by its topic; None for one that says nothing to the projector."""


class Intake(Protocol):
    """The store of alerts, and of the commands that void their transactions."""

    def store(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand] = (),
    ) -> int:
        """Store all or nothing; gives the number of alerts that were new.

        Raises StoreUnavailable (try again) and RecordNotStorable (never try this again).
        """


class Tally(Protocol):
    """The projector's counters."""

    def stored(self, count: int) -> None: ...

    def duplicates(self, count: int) -> None: ...

    def unreadable(self, reason: str) -> None: ...

    def waiting_for_database(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off while the database is unavailable, in seconds."""

    first: float = 0.1
    longest: float = 5.0


class Projector:
    """Carries alerts, and commands that concern them, from Kafka to the database until it is told to stop."""

    def __init__(
        self,
        source: AlertSource,
        intake: Intake,
        read: Read,
        tally: Tally,
        stop: threading.Event,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._source = source
        self._intake = intake
        self._read = read
        self._tally = tally
        self._stop = stop
        self._retries = retries or RetryPolicy()

    def run(self) -> None:
        """Work until the stop event is set. What was taken and not stored comes again at the next start."""
        while not self._stop.is_set():
            try:
                self.step()
            except Stopped:
                return

    def step(self) -> int:
        """One round; gives the number of records that are now done."""
        records = self._source.take()
        if not records:
            return 0
        alerts: list[ReceivedAlert] = []
        voids: list[VoidCommand] = []
        dead_letters: list[Unreadable] = []
        for record in records:
            match self._read(record):
                case ReceivedAlert() as alert:
                    alerts.append(alert)
                case VoidCommand() as void:
                    voids.append(void)
                case Unreadable() as rejected:
                    dead_letters.append(rejected)
                case None:
                    pass
        self._store(alerts, dead_letters, voids)
        self._source.commit(records)
        return len(records)

    def _store(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand],
    ) -> None:
        try:
            self._store_with_retries(alerts, dead_letters, voids)
        except RecordNotStorable:
            self._store_one_by_one(alerts, dead_letters, voids)

    def _store_one_by_one(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand],
    ) -> None:
        """Find the record that spoils the batch; its neighbours are unaffected."""
        self._store_with_retries([], dead_letters)
        items: list[VoidCommand | ReceivedAlert] = [*voids, *alerts]
        for item in items:
            try:
                if isinstance(item, VoidCommand):
                    self._store_with_retries([], [], [item])
                else:
                    self._store_with_retries([item], [])
            except RecordNotStorable as error:
                self._store_with_retries([], [unreadable(item.record, "not_storable", str(error))])

    def _store_with_retries(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand] = (),
    ) -> None:
        wait = tenacity.wait_exponential(multiplier=self._retries.first, max=self._retries.longest)
        attempts = retrying(StoreUnavailable, self._stop, wait, self._back_off)
        try:
            new = attempts(self._intake.store, alerts, dead_letters, voids)
        except tenacity.RetryError as error:
            raise Stopped("stopped while the database was unavailable") from error
        self._count(new, len(alerts) - new, dead_letters)

    def _back_off(self, attempt: RetryCallState) -> None:
        error = attempt.outcome.exception() if attempt.outcome else None
        log.warning("database_unavailable", attempt=attempt.attempt_number, error=str(error))
        self._tally.waiting_for_database()
        self._source.keep_membership()

    def _count(self, new: int, duplicates: int, dead_letters: Sequence[Unreadable]) -> None:
        self._tally.stored(new)
        self._tally.duplicates(duplicates)
        for rejected in dead_letters:
            record = rejected.record
            log.warning(
                "record_dead_lettered",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                reason=rejected.reason,
                detail=rejected.detail,
            )
            self._tally.unreadable(rejected.reason)
