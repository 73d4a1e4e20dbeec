"""What happened to an alert, in the past tense."""

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


AlertEvent = AlertRaised | AlertAcknowledged
