"""What becomes of cases, from the log to the topic of programs.

    next notices ──▶ broker confirms ──▶ position stored

A kill between the two sends the same notices again, with the ids that they had. One publisher holds the position while
it sends; another one waits, so the topic has the log's order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import structlog
import tenacity
from tenacity import RetryCallState

from alert_api.domain.notifications.case_notice import CaseNotice
from alert_api.errors import NotSent, StoreUnavailable
from alert_api.service.projector import RetryPolicy
from tripline_http.lifecycle import retrying

log = structlog.get_logger(__name__)

BATCH = 200
"""Sent before the position is stored."""
PAUSE_SECONDS = 0.5
"""Between two looks where there was nothing new."""


class NoticeStore(Protocol):
    """The log and the publisher's position in it. Raises StoreUnavailable."""

    def next_batch(self, limit: int) -> AbstractContextManager[Sequence[CaseNotice]]:
        """The notices behind the position, at least ``limit`` of them where there are so many; left without an error
        the position is that of the last of them."""


class NoticeSender(Protocol):
    """The topic."""

    def send(self, notices: Sequence[CaseNotice]) -> None:
        """Returns once the broker has confirmed all. Raises NotSent: some may have been."""


class PublisherTally(Protocol):
    """The process's counters."""

    def published(self, event: str) -> None: ...


class Publisher:
    """Works until it is told to stop."""

    def __init__(
        self,
        store: NoticeStore,
        sender: NoticeSender,
        tally: PublisherTally,
        stop: threading.Event,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._store, self._sender, self._tally, self._stop = store, sender, tally, stop
        self._retries = retries or RetryPolicy()

    def run(self) -> None:
        """Until the stop event is set."""
        wait = tenacity.wait_exponential(multiplier=self._retries.first, max=self._retries.longest)
        again = retrying((StoreUnavailable, NotSent), self._stop, wait, _back_off)
        while not self._stop.is_set():
            try:
                count = again(self.step)
            except tenacity.RetryError:
                return
            if not count:
                self._stop.wait(PAUSE_SECONDS)

    def step(self) -> int:
        """Publish the next notices; gives their number. Raises StoreUnavailable and NotSent."""
        with self._store.next_batch(BATCH) as notices:
            if notices:
                self._sender.send(notices)
        for notice in notices:
            self._tally.published(notice.type)
        return len(notices)


def _back_off(attempt: RetryCallState) -> None:
    error = attempt.outcome.exception() if attempt.outcome else None
    log.warning("tried_again", attempt=attempt.attempt_number, error=str(error))
