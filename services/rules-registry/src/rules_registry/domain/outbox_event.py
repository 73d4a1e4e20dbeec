"""An event on its way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OutboxEvent:
    """An event that Kafka has not confirmed. `rule_id` is `None` for settings; `occurred_at` is in ms."""

    position: int
    event_id: str
    type: str
    rule_id: int | None
    occurred_at: int
    body: Mapping[str, Any]
