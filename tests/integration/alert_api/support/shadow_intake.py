"""Alerts of rules and of shadows, stored as the projector stores what comes from their topics."""

from __future__ import annotations

from typing import Any

from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.service.records import ReceivedAlert, read_record
from tests.unit.alert_api.support.samples import record
from tripline_contracts import schemas


def store(intake: PostgresIntake, *alerts: dict[str, Any]) -> int:
    return intake.store([read(made) for made in alerts], [])


def read(made: dict[str, Any]) -> ReceivedAlert:
    check = schemas.validator("shadow-alerts.v1" if made["mode"] == "shadow" else "alerts.v1")
    came = read_record(record(made), check, "transactionId", "paymentAmount")
    assert isinstance(came, ReceivedAlert), came
    return came
