"""Acknowledging an alert: load, decide, append; again if somebody appended in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from alert_api.domain.events import AlertEvent, AlertId
from alert_api.domain.lifecycle import Acknowledge, decide, fold
from alert_api.errors import AlertNotFound, LifecycleBroken

ATTEMPTS = 10
"""An alert has one acknowledgement to lose a race against, and commands that void what it rests on: these come one by
one, from people."""


class LifecycleStore(Protocol):
    """The event log of alerts."""

    def events_of(self, alert_id: AlertId) -> Sequence[AlertEvent]:
        """The alert's events, oldest first; empty when there is no such alert."""

    def append(self, event: AlertEvent, version: int) -> bool:
        """Store ``event`` as the alert's ``version``; False when that version is taken."""


def acknowledge(
    store: LifecycleStore, alert_id: AlertId, actor: str, comment: str | None, clock: Callable[[], int]
) -> None:
    """Record that ``actor`` took the alert in hand; a repetition by the same actor changes nothing.

    ``clock`` gives ms since the epoch. Raises AlertNotFound and AlreadyAcknowledged.
    """
    for _ in range(ATTEMPTS):
        alert = fold(store.events_of(alert_id))
        if alert is None:
            raise AlertNotFound(alert_id)
        events = decide(alert, Acknowledge(actor=actor, now=clock(), comment=comment))
        versions = range(alert.version + 1, alert.version + 1 + len(events))
        if all(store.append(event, version) for event, version in zip(events, versions, strict=True)):
            return
    raise LifecycleBroken(f"alert {alert_id}: version taken {ATTEMPTS} times and still not acknowledged")
