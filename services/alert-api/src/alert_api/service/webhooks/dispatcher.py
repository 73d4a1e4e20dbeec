"""A thread for each active webhook, so that a slow one holds up no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import Protocol

import structlog

from alert_api.errors import SecretSealedOtherwise, StoreUnavailable

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 0.5
LONG_PAUSE_SECONDS = 60.0
"""Until it is looked at again what somebody has to mend."""
PATIENCE_SECONDS = 5.0
"""At the end, for requests under way: so long their outcomes can still be stored."""


class ActiveWebhooks(Protocol):
    """Which there are. Raises StoreUnavailable."""

    def is_leader(self) -> bool:
        """Whether this process is the one that delivers; it stays so as long as it asks."""

    def active(self) -> Collection[int]: ...


class Dispatcher:
    """Works until told to stop.

    :param step: does what is to be done for a webhook; True where there may be more
    :param patience: seconds, at the end, for requests under way
    """

    def __init__(
        self,
        webhooks: ActiveWebhooks,
        step: Callable[[int], bool],
        stop: threading.Event,
        pause: float = PAUSE_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._webhooks, self._step, self._stop = webhooks, step, stop
        self._pause, self._patience = pause, patience
        self._threads: dict[int, threading.Thread] = {}
        self._wanted: frozenset[int] = frozenset()

    def run(self) -> None:
        """Until the stop event is set, and requests that are under way then have ended or taken too long."""
        while not self._stop.is_set():
            try:
                leads = self._webhooks.is_leader()
                self._wanted = frozenset(self._webhooks.active()) if leads else frozenset()
            except StoreUnavailable as error:
                # Who delivers is not known any more.
                self._wanted = frozenset()
                log.warning("tried_again", error=str(error))
            self._threads = {number: thread for number, thread in self._threads.items() if thread.is_alive()}
            for webhook_id in self._wanted - self._threads.keys():
                thread = threading.Thread(
                    target=self._work, args=(webhook_id,), name=f"webhook-{webhook_id}", daemon=True
                )
                self._threads[webhook_id] = thread
                thread.start()
            self._stop.wait(self._pause)
        self._wait_for_threads()

    def _wait_for_threads(self) -> None:
        deadline = time.monotonic() + self._patience
        for webhook_id, thread in self._threads.items():
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                log.warning(
                    "webhook_left_waiting",
                    webhook=webhook_id,
                    consequence="it is told again, under the same id",
                )

    def _work(self, webhook_id: int) -> None:
        while webhook_id in self._wanted and not self._stop.is_set():
            try:
                more = self._step(webhook_id)
            except StoreUnavailable as error:
                log.warning("tried_again", webhook=webhook_id, error=str(error))
                more = False
            except SecretSealedOtherwise as error:
                log.error("webhook_not_told", webhook=webhook_id, error=str(error))
                self._stop.wait(LONG_PAUSE_SECONDS)
                more = False
            if not more:
                self._stop.wait(self._pause)
