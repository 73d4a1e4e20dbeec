"""Decide and evolve: what may happen to an alert, and what it is after that.

    nothing --AlertRaised--> open --AlertAcknowledged--> acknowledged

``AlertVoided`` may come any number of times after the first and leaves the state as it is. An alert's version is the
number of its events, so the second one is version 2 whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, assert_never

from alert_api.domain.events import AlertAcknowledged, AlertEvent, AlertId, AlertRaised, AlertVoided
from alert_api.errors import AlreadyAcknowledged, LifecycleBroken

AlertState = Literal["open", "acknowledged"]


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The actor who took the alert in hand, the time (ms since the epoch) and the comment."""

    actor: str
    occurred_at: int
    comment: str | None


@dataclass(frozen=True, slots=True)
class Alert:
    """The lifecycle of one alert; its content is none of this module's business."""

    alert_id: AlertId
    version: int
    acknowledgement: Acknowledgement | None = None

    @property
    def state(self) -> AlertState:
        return "open" if self.acknowledgement is None else "acknowledged"


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """The command: ``actor`` takes the alert in hand now (ms since the epoch)."""

    actor: str
    now: int
    comment: str | None


def decide(alert: Alert, command: Acknowledge) -> tuple[AlertEvent, ...]:
    """The events that ``command`` causes: none when the same actor repeats it.

    Raises AlreadyAcknowledged when another actor was first.
    """
    first = alert.acknowledgement
    if first is None:
        return (AlertAcknowledged(alert.alert_id, command.now, command.actor, command.comment),)
    if first.actor == command.actor:
        return ()
    raise AlreadyAcknowledged(alert.alert_id, first.actor, first.occurred_at)


def evolve(alert: Alert | None, event: AlertEvent) -> Alert:
    """The alert after ``event``. Raises LifecycleBroken for an order that cannot have happened."""
    match event:
        case AlertRaised():
            if alert is not None:
                raise LifecycleBroken(f"alert {event.alert_id} was raised twice")
            return Alert(event.alert_id, version=1)
        case AlertAcknowledged():
            if alert is None or alert.acknowledgement is not None:
                raise LifecycleBroken(f"alert {event.alert_id} was not open when acknowledged")
            acknowledgement = Acknowledgement(event.actor, event.occurred_at, event.comment)
            return replace(alert, version=alert.version + 1, acknowledgement=acknowledgement)
        case AlertVoided():
            if alert is None:
                raise LifecycleBroken(f"alert {event.alert_id} was marked before it was raised")
            return replace(alert, version=alert.version + 1)
    assert_never(event)


def fold(events: Iterable[AlertEvent]) -> Alert | None:
    """The alert that ``events``, oldest first, add up to; None without events."""
    start: Alert | None = None
    return reduce(evolve, events, start)
