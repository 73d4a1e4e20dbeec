"""Alerts with listed contributors and void commands, stored or produced."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from alert_api.adapters.postgres_intake import PostgresIntake
from tests.integration.alert_api.support.servers import (
    produce,
)
from tests.unit.alert_api.support.samples import (
    EPOCH,
    alert,
    commanded,
    received,
)

EXAMPLES = Path(str(resources.files("tripline_contracts"))) / "examples" / "alerts.v1"


def resting_on(number: int, *contributors: int) -> dict[str, Any]:
    """Alert `number`, triggered by its own transaction, with those of other alerts as contributors."""
    listed = [
        {"transactionId": f"t{contributor}", "eventTime": EPOCH + contributor, "value": "5"}
        for contributor in sorted({number, *contributors}, reverse=True)
    ]
    return alert(number, contributors={"count": len(listed) + 7, "transactions": listed, "truncated": True})


def store(intake: PostgresIntake, alerts: Sequence[dict[str, Any]], voids: Sequence[dict[str, Any]]) -> int:
    return intake.store([received(alert) for alert in alerts], [], [commanded(void) for void in voids])


def produce_events(kafka: str, topic: str, events: Sequence[dict[str, Any] | bytes]) -> None:
    produce(
        kafka, topic, [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    )
