"""Once a minute: the log, the topic rules.v1 and the engines are compared, event by event.

Whoever can write to the topic could silence a rule, and so could whoever moves the relay's cursor. The log is the
truth: a record that is not in it, an event that does not come to the topic or to the engine, and an engine that has
applied something else, are told by log, metrics and readiness.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

import structlog
from prometheus_client import CollectorRegistry, Gauge

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.domain.reports.log_comparison import LogDigests, LogEnds, laggards, position_of
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.errors import DeliveryFailed, LogDiffers, StoreUnavailable
from tripline_contracts.canonical import canonical_json

log = structlog.get_logger(__name__)

INTERVAL_SECONDS: Final = 60.0
# Reports come each hour at least: older ones are of engines that are gone.
STALE_MS: Final = 2 * 3_600_000 + 600_000
FOREIGN_SECONDS: Final = 3600.0
"""A record that is not in the log stays in the topic for ever; readiness fails for so long after it was seen."""
DELIVERY_SECONDS: Final = 120.0
"""So long may an event take from the log to rules.v1."""
REPORT_SECONDS: Final = DELIVERY_SECONDS + 60.0
"""And so long until each shard says that it has applied it: a shard speaks once a minute, and may be restarted."""
_BATCH = 500
_RECOVERABLE = (StoreUnavailable, DeliveryFailed)


class LogPort(Protocol):
    """A session on the log."""

    def undelivered(self, after: int, limit: int) -> Sequence[OutboxEvent]: ...
    def reported_positions(self) -> Sequence[PositionReport]: ...


class TopicPort(Protocol):
    """rules.v1, read from its beginning."""

    def new_records(self) -> Iterable[tuple[int, bytes]]:
        """Offset and value of what has come since it was asked last."""


class LogWatch:
    """Compares until `stop` is set; survives the loss of Postgres and Kafka."""

    def __init__(
        self,
        open_log: Callable[[], AbstractContextManager[LogPort]],
        open_topic: Callable[[], AbstractContextManager[TopicPort]],
        metrics: CollectorRegistry,
        stop: threading.Event,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_log, self._open_topic, self._stop = open_log, open_topic, stop
        self._wall_ms, self._elapsed = wall_ms, elapsed
        self._digests, self._ends = LogDigests(), LogEnds()
        # Every event up to `_complete` is in the topic, and of those behind it the ones in `_beyond`.
        self._complete, self._beyond = 0, set[int]()
        self._last_offset = -1
        self._differences: list[str] = []
        self._foreign = 0
        self._foreign_at = float("-inf")
        self._foreign_gauge = Gauge(
            "tripline_rules_foreign_records",
            "Records of rules.v1 that are not in the registry's log",
            registry=metrics,
        )
        self._log_position = Gauge(
            "tripline_rules_log_position",
            "Position of the newest event in the registry's log, as it was compared last",
            registry=metrics,
        )
        self._differing = Gauge(
            "tripline_rules_differences",
            "Differences between the log, rules.v1 and what engines apply",
            registry=metrics,
        )

    def run(self) -> None:
        """Compares until stopped."""
        while not self._stop.is_set():
            try:
                with self._open_log() as opened, self._open_topic() as topic:
                    # Both are read from their beginnings: a restored database may have another log.
                    self._foreign, self._digests = 0, LogDigests()
                    self._forget_topic()
                    while not self._stop.is_set():
                        self.step(opened, topic)
                        self._stop.wait(INTERVAL_SECONDS)
            except _RECOVERABLE as error:
                log.warning("rules are not compared", reason=str(error))
                self._stop.wait(INTERVAL_SECONDS / 4)

    def step(self, opened: LogPort, topic: TopicPort) -> None:
        """Compares once."""
        # whatever is in the topic was in the log before: so the topic is read first
        records = list(topic.new_records())
        self._read_log(opened)
        self._log_position.set(self._digests.position)
        self._ends.note(self._digests.position, self._elapsed())
        for offset, value in records:
            if offset <= self._last_offset:
                self._forget_topic()  # it was made anew
            self._last_offset = offset
            position = position_of(value)
            if self._digests.holds(position, value):
                self._arrived(position)
            else:
                self._foreign += 1
                self._foreign_at = self._elapsed()
                log.error("foreign record in rules.v1", offset=offset, bytes=len(value))
        oldest = self._wall_ms() - STALE_MS
        reports = opened.reported_positions()
        differences = [
            *self._missing(self._ends.before(self._elapsed() - DELIVERY_SECONDS)),
            *(
                difference
                for report in reports
                if report.reported_at >= oldest
                for difference in self._digests.differences(report)
            ),
            *self._laggards(reports),
        ]
        if differences:
            log.error("rules differ", differences=differences[:10])
        self._differences = differences
        self._differing.set(len(differences))
        self._foreign_gauge.set(self._foreign)

    def check(self) -> None:
        """The readiness check. Raises `LogDiffers`."""
        if self._differences:
            raise LogDiffers(f"{self._differences[0]}.")
        if self._elapsed() - self._foreign_at < FOREIGN_SECONDS:
            raise LogDiffers("rules.v1 holds a record that is not in the registry's log.")

    def _laggards(self, reports: Sequence[PositionReport]) -> Iterator[str]:
        due = self._ends.before(self._elapsed() - REPORT_SECONDS)
        if due:
            seconds = self._elapsed() - self._ends.reached(due) - DELIVERY_SECONDS
            yield from laggards(reports, due, self._wall_ms() - int(seconds * 1_000))

    def _forget_topic(self) -> None:
        self._complete, self._last_offset = 0, -1
        self._beyond.clear()

    def _arrived(self, position: int) -> None:
        if position > self._complete:
            self._beyond.add(position)
        while self._complete + 1 in self._beyond:
            self._complete += 1
            self._beyond.remove(self._complete)

    def _missing(self, due: int) -> Iterator[str]:
        if self._complete < due:
            first = self._complete + 1
            yield (
                f"rules.v1 lacks position {first} of the registry's log, which has held position {due} for minutes:"
                " where the relay does not deliver it by itself, stop it, run"
                f" `rules-registry republish --from {first}` and start it"
            )

    def _read_log(self, opened: LogPort) -> None:
        while events := opened.undelivered(self._digests.position, _BATCH):
            for event in events:
                self._digests.append(canonical_json(event.body))
