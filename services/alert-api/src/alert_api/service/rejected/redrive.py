"""Both ways of rejected records, in turn: from Kafka into the database, and what was corrected back to Kafka.

    take ──▶ database commit ──▶ offsets commit            queued decision ──▶ broker confirms ──▶ delivery stored

A kill anywhere means that the same is done again: a record that is stored twice is one, and a transaction that is sent
twice is one to the engine, which knows its id.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog
import tenacity
from tenacity import RetryCallState

from alert_api.domain.rejected_records import Delivery, RecordPlace
from alert_api.errors import NotSent, Stopped, StoreUnavailable
from alert_api.service.projector import AlertSource, RetryPolicy
from alert_api.service.records import Record
from alert_api.service.rejected.reading import ReceivedReject, UnreadableReject
from tripline_http.lifecycle import retrying

log = structlog.get_logger(__name__)

BATCH = 100
"""Sent before the deliveries are stored."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Correction:
    """A decision to send a record again, with its position among decisions."""

    position: int
    corrects: RecordPlace
    value: bytes
    backfill: str | None


class RedriveStore(Protocol):
    """The database, for this process. All raise StoreUnavailable."""

    def store(self, rejects: Sequence[ReceivedReject]) -> int:
        """All or nothing; gives the number that were new."""

    def queued(self, limit: int) -> Sequence[Correction]:
        """The oldest decisions whose record was not sent yet."""

    def delivered(self, deliveries: Sequence[tuple[Correction, Delivery]]) -> None:
        """These were."""


class Sender(Protocol):
    """The event topic."""

    def send(self, corrections: Sequence[Correction]) -> Sequence[Delivery]:
        """Where each went, once the broker has confirmed all. Raises NotSent: some may have been."""


class RedriveTally(Protocol):
    """The process's counters."""

    def stored(self, cause: str) -> None: ...

    def unreadable(self) -> None: ...

    def sent(self, count: int) -> None: ...


class Redrive:
    """Works until it is told to stop."""

    def __init__(
        self,
        source: AlertSource,
        store: RedriveStore,
        sender: Sender,
        read: Callable[[Record], ReceivedReject | UnreadableReject],
        tally: RedriveTally,
        stop: threading.Event,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._source, self._store, self._sender = source, store, sender
        self._read, self._tally, self._stop = read, tally, stop
        self._retries = retries or RetryPolicy()

    def run(self) -> None:
        """Until the stop event is set. What was not done comes again at the next start."""
        while not self._stop.is_set():
            try:
                self.step()
            except Stopped:
                return

    def step(self) -> None:
        """One round of each way. Raises Stopped."""
        self._bring_in()
        corrections = self._again(lambda: self._store.queued(BATCH))
        if corrections:
            deliveries = self._again(lambda: self._sender.send(corrections))
            sent = list(zip(corrections, deliveries, strict=True))
            self._again(lambda: self._store.delivered(sent))
            self._tally.sent(len(sent))
            log.info("rejected_records_sent_again", records=len(sent))

    def _bring_in(self) -> None:
        records = self._source.take()
        if not records:
            return
        rejects = []
        for record in records:
            read = self._read(record)
            if isinstance(read, ReceivedReject):
                rejects.append(read)
                self._tally.stored(read.cause)
                continue
            self._tally.unreadable()
            log.warning(
                "rejection_unreadable", topic=record.topic, partition=record.partition, offset=record.offset,
                detail=read.detail, consequence="it stays in the topic and is not listed",
            )  # fmt: skip
        if rejects:
            self._again(lambda: self._store.store(rejects))
        self._source.commit(records)

    def _again(self, action: Callable[[], T]) -> T:
        """Until it works: nothing is lost meanwhile, for what is not done is in Kafka or in the database."""
        wait = tenacity.wait_exponential(multiplier=self._retries.first, max=self._retries.longest)
        try:
            return retrying((StoreUnavailable, NotSent), self._stop, wait, self._back_off)(action)
        except tenacity.RetryError as error:
            raise Stopped("stopped while database or broker was unavailable") from error

    def _back_off(self, attempt: RetryCallState) -> None:
        error = attempt.outcome.exception() if attempt.outcome else None
        log.warning("tried_again", attempt=attempt.attempt_number, error=str(error))
        self._source.keep_membership()
