"""The relay: the log goes to Kafka in order, at least once, and nothing is ever left out.

It tails by position. The cursor moves after Kafka has confirmed; whatever happens in between is sent again. One relay
is active, the others wait for the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import structlog

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.errors import DeliveryFailed, RelayCursorAhead, RelayCursorMoved, StoreUnavailable
from rules_registry.service.relay_metrics import RelayMetrics
from tripline_http.lifecycle import run_sessions

log = structlog.get_logger(__name__)

BATCH = 500
# NOTIFY wakes it; a lost notification delays delivery by this at most.
POLL_SECONDS = 1.0
STANDBY_SECONDS = 0.5
STALE_SECONDS = 15.0
# With nothing to deliver Kafka is asked now and then, so that its absence is known before there is something.
ASK_SECONDS = 10.0
SILENT_SECONDS = 30.0

_RECOVERABLE = (StoreUnavailable, DeliveryFailed, RelayCursorMoved)


class OutboxPort(Protocol):
    """A session on the log that can hold the relay's lock."""

    def try_lock(self) -> bool: ...
    def cursor(self) -> int: ...
    def last_position(self) -> int: ...
    def undelivered(self, after: int, limit: int) -> Sequence[OutboxEvent]: ...
    def advance(self, since: int, to: int) -> None: ...
    def wait(self, seconds: float) -> None: ...


class PublisherPort(Protocol):
    """The producer of rules.v1."""

    def deliver(self, events: Sequence[OutboxEvent]) -> None: ...
    def answers(self) -> bool:
        """Whether Kafka does, and has the topic; known within seconds."""
        ...


class Relay:
    """Runs until `stop` is set; survives the loss of Postgres and Kafka."""

    def __init__(
        self,
        open_outbox: Callable[[], AbstractContextManager[OutboxPort]],
        open_publisher: Callable[[], AbstractContextManager[PublisherPort]],
        metrics: RelayMetrics,
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_outbox = open_outbox
        self._open_publisher = open_publisher
        self._metrics = metrics
        self._stop = stop
        self._clock = clock
        self._seen_database = float("-inf")
        self._seen_kafka: float | None = None
        """None on standby, which has no connection to it."""
        self._refused: int | None = None
        self._ahead: str | None = None

    def run(self) -> None:
        """Deliver until stopped. A session that got something done begins the back-off anew."""
        run_sessions(self._session, _RECOVERABLE, self._stop, self._failed)

    def check(self) -> None:
        """The readiness check.

        Raises `StoreUnavailable` if the database has not been seen for a while, `DeliveryFailed` if Kafka has not while
        this relay is the active one, `RelayCursorAhead` while the relay refuses its cursor.
        """
        if self._clock() - self._seen_database > STALE_SECONDS:
            raise StoreUnavailable(f"The database has not been seen for {STALE_SECONDS:.0f} s.")
        if self._ahead is not None:
            raise RelayCursorAhead(self._ahead)
        seen = self._seen_kafka
        if seen is not None and self._clock() - seen > SILENT_SECONDS:
            raise DeliveryFailed(f"Kafka has not answered for {SILENT_SECONDS:.0f} s.")

    def _session(self) -> None:
        delivered = 0
        try:
            with self._open_outbox() as outbox:
                if self._wait_for_lock(outbox):
                    with self._open_publisher() as publisher:
                        for count in self._deliveries(outbox, publisher):
                            delivered += count
        except _RECOVERABLE as error:
            if not delivered:
                raise
            self._failed(error)
        finally:
            self._metrics.active.set(0)

    def _wait_for_lock(self, outbox: OutboxPort) -> bool:
        waiting = False
        while not self._stop.is_set():
            is_locked = outbox.try_lock()
            self._seen_database = self._clock()
            if is_locked:
                log.info("relay lock acquired", after_waiting=waiting)
                self._metrics.active.set(1)
                if self._seen_kafka is None:
                    # time to answer; a session that failed gives no more of it
                    self._seen_kafka = self._clock()
                return True
            if not waiting:
                log.info("relay on standby: another one holds the lock")
                waiting = True
                self._seen_kafka = None
            self._stop.wait(STANDBY_SECONDS)
        return False

    def _sound_cursor(self, outbox: OutboxPort) -> int:
        """The cursor; waits while it stands beyond the log.

        One that was refused stays so until somebody has put it elsewhere: that the log has grown past it meanwhile does
        not deliver what it would skip.
        """
        while True:
            # in this order: the log only grows, so a cursor that is right is never beyond it
            cursor, last = outbox.cursor(), outbox.last_position()
            self._seen_database = self._clock()
            if cursor <= last and cursor != self._refused:
                if self._ahead is not None:
                    log.info("relay cursor is right again", cursor=cursor, last_position=last)
                self._refused, self._ahead = None, None
                return cursor
            if cursor != self._refused:
                self._refused = cursor
                self._ahead = (
                    f"The relay's cursor stands at {cursor}, and the log ended at {last}: nothing is delivered. Stop "
                    "every relay, run `rules-registry republish --from POSITION` with the first position that "
                    "rules.v1 lacks (1 if in doubt), and start the relay."
                )
                log.error("relay cursor refused", reason=self._ahead, cursor=cursor, last_position=last)
            outbox.wait(POLL_SECONDS)
            if self._stop.is_set():
                return cursor

    def _deliveries(self, outbox: OutboxPort, publisher: PublisherPort) -> Iterator[int]:
        position = self._sound_cursor(outbox)
        self._metrics.position.set(position)
        while not self._stop.is_set():
            events = outbox.undelivered(position, BATCH)
            self._seen_database = self._clock()
            if not events:
                self._ask(publisher)
                outbox.wait(POLL_SECONDS)
                continue
            publisher.deliver(events)
            self._seen_kafka = self._clock()
            outbox.advance(position, events[-1].position)
            position = events[-1].position
            self._metrics.position.set(position)
            self._metrics.delivered.inc(len(events))
            log.info("delivered", events=len(events), position=position)
            yield len(events)

    def _ask(self, publisher: PublisherPort) -> None:
        is_due = self._seen_kafka is None or self._clock() - self._seen_kafka >= ASK_SECONDS
        if is_due and publisher.answers():
            self._seen_kafka = self._clock()

    def _failed(self, error: BaseException) -> None:
        self._metrics.failures.labels(type(error).__name__).inc()
        log.warning("relay session failed, backing off", reason=str(error), error=type(error).__name__)
