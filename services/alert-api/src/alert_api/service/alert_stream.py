"""Following what happens to alerts, in an order that nothing can slip behind.

What was written in one transaction has that transaction's number. A reader is told only of transactions below the
horizon: the oldest one that was still running when it looked. Whatever is not over by then comes later.

    transactions   101   102   103   104        102 still runs: the horizon is 102
    told now       ^^^                          103 is over, and is told after 102 all the same
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from alert_api.service.alert_queries import StoredAlert

BATCH: Final = 100
_PLACE = re.compile(r"([0-9]{1,20})-([0-9]{1,19})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class StreamPlace:
    """A reader's cursor: everything written in `transaction` up to `position`, and everything before, is delivered."""

    transaction: int
    position: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The place that `str` of one made; None for any other text."""
        match = _PLACE.fullmatch(text)
        if match is None:
            return None
        parsed = cls(int(match[1]), int(match[2]))
        # What the database can compare with: 64 bits, of the position without the sign.
        return parsed if parsed.transaction < 2**64 and parsed.position < 2**63 else None

    def __str__(self) -> str:
        return f"{self.transaction}-{self.position}"


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """One event of an alert, with the alert as it is now; `kind` names the event."""

    place: StreamPlace
    kind: str
    alert: StoredAlert


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The events after a cursor, and the cursor after them."""

    happened: Sequence[StreamedEvent]
    reached: StreamPlace


class AlertEvents(Protocol):
    """The events of all alerts as one sequence. Both raise StoreUnavailable when the database is away."""

    def present(self) -> StreamPlace:
        """The place after which only what is not yet over comes."""

    def after(self, cursor: StreamPlace, limit: int) -> StreamBatch:
        """At most `limit` events after `cursor`, in order."""


class CommitNotifier(Protocol):
    """Notifications that transactions may have committed."""

    def notifications(self) -> int:
        """The number of notifications so far."""

    def wait(self, heard: int, seconds: float) -> None:
        """Blocks until there are more than `heard` notifications, at most `seconds`."""


class NoCommitNotifier:
    """No notifications at all; a wait ends early when `stopped` is set."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped

    def notifications(self) -> int:
        """Never."""
        return 0

    def wait(self, heard: int, seconds: float) -> None:  # noqa: ARG002 - the protocol's parameter
        """For so long."""
        self._stopped.wait(seconds)


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """The poll interval without notifications and the longest silence, in seconds."""

    look: float = 0.25
    silence: float = 10.0


def follow(
    alert_events: AlertEvents,
    start: StreamPlace,
    stopped: threading.Event,
    steady: Callable[[], float],
    timing: StreamTiming,
    listens: Callable[[], bool] = lambda: True,
    notifier: CommitNotifier | None = None,
) -> Iterator[StreamBatch]:
    """Every event after `start`, in batches: polled at each notification, and every `timing.look` seconds.

    The interval is needed because an event may lie above the horizon still when it is notified, and because a notifier
    may be broken. It ends when `stopped` is set or nobody `listens` any more, and with StoreUnavailable. When nothing
    happened for `timing.silence` seconds (of the clock `steady`) an empty `StreamBatch` is a sign of life.
    """
    cursor, last_sent, notifier = start, steady(), notifier or NoCommitNotifier(stopped)
    while listens() and not stopped.is_set():
        heard = notifier.notifications()
        batch = alert_events.after(cursor, BATCH)
        cursor = batch.reached
        if batch.happened or steady() - last_sent >= timing.silence:
            last_sent = steady()
            yield batch
        if len(batch.happened) < BATCH:
            notifier.wait(heard, timing.look)
