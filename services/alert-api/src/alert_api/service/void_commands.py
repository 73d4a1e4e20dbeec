"""Reading a record of rules.v1: the commands that void a transaction, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from alert_api.service.records import Record, Refused, Unreadable, Validate, check, decoded, unreadable


@dataclass(frozen=True, slots=True)
class VoidCommand:
    """A VOID_TRANSACTION with its place in rules.v1; times in ms since the epoch."""

    command_id: str
    position: int
    occurred_at: int
    actor: str
    transaction_id: str
    event_time: int
    record: Record


def read_command(record: Record, validate: Validate) -> VoidCommand | Unreadable | None:
    """The command in ``record``, or what is wrong with it; None for every other event."""
    try:
        text, event = decoded(record)
        if not _voids(event):
            return None
        check(text, event, validate)
        return _command(record, event)
    except Refused as refused:
        return unreadable(record, refused.reason, str(refused))


def _voids(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and event.get("type") == "ControlCommand"
        and event.get("command") == "VOID_TRANSACTION"
    )


def _command(record: Record, event: Any) -> VoidCommand:
    return VoidCommand(
        command_id=event["commandId"],
        position=event["position"],
        occurred_at=event["occurredAt"],
        actor=event["actor"],
        transaction_id=event["transactionId"],
        event_time=event["eventTime"],
        record=record,
    )
