"""What a control command is about: members of its event beside `command` and `commandId`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Trace:
    """Whose evaluations are told, and of which transactions: those with a record time before `until` (ms)."""

    rule_id: int
    until: int


@dataclass(frozen=True, slots=True)
class ClearedRule:
    """Of which rule all is forgotten."""

    rule_id: int


@dataclass(frozen=True, slots=True)
class ClearedGroup:
    """Of which group of a rule all is forgotten: (grouping field, value) by name, decimals plain."""

    rule_id: int
    group: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VoidedTransaction:
    """Which transaction is to be as if it had not been; `event_time` in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class EndedBackfill:
    """Which backfill is closed, and from when on history is whole with it (ms), where that is said."""

    backfill_id: str
    complete_from: int | None


About: TypeAlias = Trace | ClearedRule | ClearedGroup | VoidedTransaction | EndedBackfill | None
"""None for the commands to the whole line, and for START_BACKFILL, whose name is its `commandId`."""


def about_json(about: About) -> dict[str, Any]:
    """The members of the event."""
    match about:
        case None:
            return {}
        case Trace():
            return {"ruleId": about.rule_id, "traceUntil": about.until}
        case ClearedRule():
            return {"ruleId": about.rule_id}
        case ClearedGroup():
            return {"ruleId": about.rule_id, "group": dict(about.group)}
        case VoidedTransaction():
            return {"transactionId": about.transaction_id, "eventTime": about.event_time}
        case EndedBackfill(backfill_id, None):
            return {"backfillId": backfill_id}
        case EndedBackfill():
            return {"backfillId": about.backfill_id, "completeFrom": about.complete_from}
    assert_never(about)


def about_from_json(event: Mapping[str, Any]) -> About:
    """The inverse of `about_json`: what the event of a control command is about."""
    match event["command"]:
        case "TRACE_RULE":
            return Trace(event["ruleId"], event["traceUntil"])
        case "CLEAR_RULE":
            return ClearedRule(event["ruleId"])
        case "CLEAR_GROUP":
            return ClearedGroup(event["ruleId"], tuple(sorted(event["group"].items())))
        case "VOID_TRANSACTION":
            return VoidedTransaction(event["transactionId"], event["eventTime"])
        case "END_BACKFILL":
            return EndedBackfill(event["backfillId"], event.get("completeFrom"))
        case _:
            return None
