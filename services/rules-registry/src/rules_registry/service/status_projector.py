"""The status projector: reports of the engine's shards go into the database, then their offsets are committed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import structlog
from prometheus_client import CollectorRegistry, Counter

from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.domain.reports.shard_reports import Applied, Exported, read_status
from rules_registry.errors import DeliveryFailed, InvalidStatus, StoreUnavailable
from tripline_http.lifecycle import run_sessions

log = structlog.get_logger(__name__)

TAKE_SECONDS = 0.5
# The newest report of a shard counts: one from far ahead would hide all that follow.
AHEAD_MS = 300_000
STALE_SECONDS = 30.0
_RECOVERABLE = (StoreUnavailable, DeliveryFailed)

Status = Applied | Exported | PositionReport


class SourcePort(Protocol):
    """Records, and the promise that they need not come again."""

    def take(self, seconds: float) -> Sequence[bytes | None]: ...
    def commit(self) -> None: ...


class StorePort(Protocol):
    """The store of status records."""

    def put(self, statuses: Sequence[Status]) -> int:
        """Store them; the number of those that no engine can have written, and that are not stored."""


class StatusProjector:
    """Runs until `stop` is set. A replay changes nothing: an older word never replaces a newer one."""

    def __init__(
        self,
        open_source: Callable[[], AbstractContextManager[SourcePort]],
        open_store: Callable[[], AbstractContextManager[StorePort]],
        metrics: CollectorRegistry,
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._open_source = open_source
        self._open_store = open_store
        self._stop = stop
        self._clock, self._wall_ms = clock, wall_ms
        self._worked_at = float("-inf")
        self._projected = Counter(
            "tripline_status_projected_total", "Status records stored", registry=metrics
        )
        self._broken = Counter(
            "tripline_status_broken_total",
            "Records of rule-status.v1 that cannot be read and are skipped",
            registry=metrics,
        )
        self._refused = Counter(
            "tripline_status_refused_total",
            "Records of rule-status.v1 about events that are not in the log",
            registry=metrics,
        )

    def run(self) -> None:
        """Projects until stopped."""
        run_sessions(self._session, _RECOVERABLE, self._stop, _report)

    def check(self) -> None:
        """The readiness check: raises `StoreUnavailable` if nothing could be done for a while."""
        if self._clock() - self._worked_at > STALE_SECONDS:
            raise StoreUnavailable("Kafka or the database has not been seen for a while.")

    def _session(self) -> None:
        worked = False
        try:
            with self._open_store() as store, self._open_source() as source:
                while not self._stop.is_set():
                    values = source.take(TAKE_SECONDS)
                    self._worked_at = self._clock()
                    if values:
                        self._project(values, store)
                        source.commit()
                        worked = True
        except _RECOVERABLE as error:
            if not worked:
                raise
            _report(error)

    def _project(self, values: Sequence[bytes | None], store: StorePort) -> None:
        statuses = [status for value in values if (status := self._read(value)) is not None]
        if statuses:
            refused = store.put(statuses)
            self._projected.inc(len(statuses) - refused)
            if refused:
                self._refused.inc(refused)
                log.error("status of events that the log does not hold", records=refused)

    def _read(self, value: bytes | None) -> Status | None:
        try:
            status = read_status(value)
            if isinstance(status, PositionReport) and status.reported_at > self._wall_ms() + AHEAD_MS:
                raise InvalidStatus("reportedAt is in the future")
            return status
        except InvalidStatus as error:
            # One bad record must not hold up the others; it stays in the topic.
            self._broken.inc()
            log.warning("unreadable status record skipped", reason=str(error))
            return None


def _report(error: BaseException) -> None:
    log.warning("status projector session failed, backing off", reason=str(error))
