"""The events of an alert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

AlertId = NewType("AlertId", str)
"""An alert's id as lower-case UUID text."""


@dataclass(frozen=True, slots=True)
class AlertRaised:
    """The engine detected the alert at ``occurred_at`` (ms since the epoch)."""

    alert_id: AlertId
    occurred_at: int


@dataclass(frozen=True, slots=True)
class AlertAcknowledged:
    """``actor`` took the alert in hand at ``occurred_at`` (ms since the epoch)."""

    alert_id: AlertId
    occurred_at: int
    actor: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class Voiding:
    """The command that voided a transaction on which an alert rests, and which it is; ``event_time`` in ms,
    ``position`` in rules.v1."""

    transaction_id: str
    event_time: int
    command_id: str
    position: int


@dataclass(frozen=True, slots=True)
class AlertVoided:
    """``actor`` had commanded at ``occurred_at`` (ms since the epoch) that a transaction which triggered the alert, or
    is among its contributors, is as if it had not been. The alert stands as it did."""

    alert_id: AlertId
    occurred_at: int
    actor: str
    voiding: Voiding


AlertEvent = AlertRaised | AlertAcknowledged | AlertVoided
