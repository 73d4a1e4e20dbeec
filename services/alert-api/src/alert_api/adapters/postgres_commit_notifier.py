"""Rings when events of alerts have been committed: one connection listens for all streams of this process."""

from __future__ import annotations

import threading
from typing import Final

import psycopg
import structlog
import tenacity
from tenacity import RetryCallState

log = structlog.get_logger(__name__)

_LISTEN: Final = "LISTEN alert_events"  # migration 0008
_AGAIN_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 1.0


class PostgresCommitNotifier:
    """A `CommitNotifier` on LISTEN. While it cannot listen there are no notifications, and waits are not cut short."""

    def __init__(self, dsn: str) -> None:
        self._dsn, self._notified, self._notifications = dsn, threading.Condition(), 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notifier", daemon=True)
        self._thread.start()

    def notifications(self) -> int:
        """The number of notifications so far."""
        return self._notifications

    def wait(self, heard: int, seconds: float) -> None:
        """Blocks until there are more than `heard` notifications, at most `seconds`."""
        with self._notified:
            self._notified.wait_for(lambda: self._notifications != heard, seconds)

    def close(self) -> None:
        """Stop listening; nobody waits any longer."""
        self._stop.set()
        self._notify()
        self._thread.join(2 * _LOOK_SECONDS)

    def _run(self) -> None:
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(psycopg.Error),
            wait=tenacity.wait_fixed(_AGAIN_SECONDS),
            stop=tenacity.stop_when_event_set(self._stop),
            sleep=tenacity.sleep_using_event(self._stop),
            before_sleep=_report,
            retry_error_callback=lambda _: None,
        )
        attempts(self._listen)

    def _listen(self) -> None:
        with psycopg.connect(
            self._dsn, autocommit=True, connect_timeout=5, application_name="tripline-alert-stream"
        ) as connection:
            connection.execute(_LISTEN)
            # nobody knows what was committed before
            self._notify()
            while not self._stop.is_set():
                for _ in connection.notifies(timeout=_LOOK_SECONDS):
                    self._notify()
                    if self._stop.is_set():
                        return

    def _notify(self) -> None:
        with self._notified:
            self._notifications += 1
            self._notified.notify_all()


def _report(attempt: RetryCallState) -> None:
    error = attempt.outcome.exception() if attempt.outcome else None
    log.warning("notifications_unavailable", error=str(error), consequence="streams poll")
