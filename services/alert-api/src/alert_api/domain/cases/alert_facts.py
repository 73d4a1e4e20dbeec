"""The facts of an alert that folding needs, with its position in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from alert_api.domain.events import AlertId


@dataclass(frozen=True, slots=True)
class Measured:
    """What a rule measured, and what it compares it with; both are plain decimals."""

    value: str
    operator: str
    limit: str


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """An alert as the log has it; times in ms since the epoch. `measured` is None of a chained rule, which measures
    many things."""

    position: int
    alert_id: AlertId
    rule_id: int
    group: Mapping[str, str]
    event_time: int
    detected_at: int
    window_ms: int
    measured: Measured | None


def measured_of(content: Mapping[str, Any]) -> Measured | None:
    """What an alert's content says it measured."""
    value, operator, limit = (content.get(name) for name in ("value", "operator", "limit"))
    return None if value is None or operator is None or limit is None else Measured(value, operator, limit)
