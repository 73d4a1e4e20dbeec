"""Once a minute: the log, the topic rules.v1 and the engines are compared, event by event.

Whoever can write to the topic could silence a rule. The log is the truth: a record that is not in it, and an engine
that has applied something else, are told by log, metrics and readiness.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

import structlog
from prometheus_client import CollectorRegistry, Gauge

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.domain.reports.log_comparison import LogDigests
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.errors import DeliveryFailed, LogDiffers, StoreUnavailable
from tripline_contracts.canonical import canonical_json

log = structlog.get_logger(__name__)

INTERVAL_SECONDS: Final = 60.0
# Reports come each hour at least: older ones are of engines that are gone.
STALE_MS: Final = 2 * 3_600_000 + 600_000
FOREIGN_SECONDS: Final = 3600.0
"""A record that is not in the log stays in the topic for ever; readiness fails for so long after it was seen."""
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
        self._digests = LogDigests()
        self._differences: list[str] = []
        self._foreign = 0
        self._foreign_at = float("-inf")
        self._foreign_gauge = Gauge(
            "tripline_rules_foreign_records",
            "Records of rules.v1 that are not in the registry's log",
            registry=metrics,
        )
        self._differing = Gauge(
            "tripline_rules_differences",
            "Differences between the log and what engines apply",
            registry=metrics,
        )

    def run(self) -> None:
        """Compares until stopped."""
        while not self._stop.is_set():
            try:
                with self._open_log() as opened, self._open_topic() as topic:
                    # a topic that is opened anew is read from its beginning
                    self._foreign = 0
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
        for offset, value in records:
            if not self._digests.holds(_position(value), value):
                self._foreign += 1
                self._foreign_at = self._elapsed()
                log.error("foreign record in rules.v1", offset=offset, bytes=len(value))
        oldest = self._wall_ms() - STALE_MS
        differences = [
            difference
            for report in opened.reported_positions()
            if report.reported_at >= oldest
            for difference in self._digests.differences(report)
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

    def _read_log(self, opened: LogPort) -> None:
        while events := opened.undelivered(self._digests.position, _BATCH):
            for event in events:
                self._digests.append(canonical_json(event.body))


def _position(value: bytes) -> int:
    """The position that a record says; 0, where none is, if it says none."""
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return 0
    position = data.get("position") if isinstance(data, dict) else None
    return position if isinstance(position, int) and not isinstance(position, bool) else 0
