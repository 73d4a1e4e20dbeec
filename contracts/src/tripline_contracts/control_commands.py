"""Control commands of operators: what the control events of rules.v1 carry from the registry to the engine.

A command stands in its event as `command`, with a `commandId` and the members that `payload_json` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from tripline_contracts.event_members import read_integer, read_text

Group = tuple[tuple[str, str], ...]
"""The fields of a grouping, ascending, each with its value as text."""


@dataclass(frozen=True, slots=True)
class ClearState:
    """Drop all accepted transactions and firing states; ids stay."""


@dataclass(frozen=True, slots=True)
class ExportRules:
    """Report the rules that each shard holds."""


@dataclass(frozen=True, slots=True)
class TraceRule:
    """Report the evaluations of one rule, for transactions with a record time (ms) before ``until``."""

    rule_id: int
    until: int


@dataclass(frozen=True, slots=True)
class ClearRule:
    """Exclude earlier transactions from one rule, and drop its firing states."""

    rule_id: int


@dataclass(frozen=True, slots=True)
class ClearGroup:
    """Exclude one group's earlier transactions from the rule's present versions that group by its fields."""

    rule_id: int
    group: Group


@dataclass(frozen=True, slots=True)
class VoidTransaction:
    """Void every accepted transaction with this id and event time (ms): it counts for no rule any more; ids stay."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class StartBackfill:
    """Admit records that name this backfill whatever their age."""

    backfill_id: str


@dataclass(frozen=True, slots=True)
class EndBackfill:
    """Stop admitting them; if ``complete_from`` (ms) is given, history is complete from then on."""

    backfill_id: str
    complete_from: int | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A command without work for a shard: no clear stays in force, and the registry deletes rules one by one."""


Command = (
    ClearState
    | ExportRules
    | TraceRule
    | ClearRule
    | ClearGroup
    | VoidTransaction
    | StartBackfill
    | EndBackfill
    | Recorded
)


Payload = TraceRule | ClearRule | ClearGroup | VoidTransaction | EndBackfill
"""The commands whose events have members of their own."""


def payload_json(payload: Payload | None) -> dict[str, Any]:
    """The members of the command's event beside `command` and `commandId`."""
    match payload:
        case None:
            return {}
        case TraceRule():
            return {"ruleId": payload.rule_id, "traceUntil": payload.until}
        case ClearRule():
            return {"ruleId": payload.rule_id}
        case ClearGroup():
            return {"ruleId": payload.rule_id, "group": dict(payload.group)}
        case VoidTransaction():
            return {"transactionId": payload.transaction_id, "eventTime": payload.event_time}
        case EndBackfill(backfill_id, None):
            return {"backfillId": backfill_id}
        case EndBackfill():
            return {"backfillId": payload.backfill_id, "completeFrom": payload.complete_from}
    assert_never(payload)


def read_payload(event: Mapping[str, Any]) -> Payload | None:
    """The inverse of `payload_json`, for a whole event; None for commands without members. Raises as `read_command`."""
    command = read_command(event)
    return command if isinstance(command, Payload) else None


def read_command(event: Mapping[str, Any]) -> Command:
    """The command of a control event.

    :raises LookupError: if a member is missing
    :raises ValueError: if the command is unknown, or a member has another type
    """
    name = event["command"]
    if not isinstance(name, str) or name not in _READERS:
        raise ValueError(f"unknown command {name!r}")
    return _READERS[name](event)


def _end_backfill(event: Mapping[str, Any]) -> EndBackfill:
    complete = event.get("completeFrom") is not None
    complete_from = read_integer(event, "completeFrom") if complete else None
    return EndBackfill(read_text(event, "backfillId"), complete_from)


def _read_group(value: object) -> Group:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("group must be an object of texts")
    return tuple(sorted(value.items()))


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Command]]] = {
    "CLEAR_STATE_ALL": lambda _: ClearState(),
    "CLEAR_STATE_ALL_STOP": lambda _: Recorded(),
    "EXPORT_RULES_CURRENT": lambda _: ExportRules(),
    "DELETE_RULES_ALL": lambda _: Recorded(),
    "TRACE_RULE": lambda event: TraceRule(read_integer(event, "ruleId"), read_integer(event, "traceUntil")),
    "CLEAR_RULE": lambda event: ClearRule(read_integer(event, "ruleId")),
    "CLEAR_GROUP": lambda event: ClearGroup(read_integer(event, "ruleId"), _read_group(event["group"])),
    "VOID_TRANSACTION": lambda event: VoidTransaction(
        read_text(event, "transactionId"), read_integer(event, "eventTime")
    ),
    "START_BACKFILL": lambda event: StartBackfill(read_text(event, "commandId")),
    "END_BACKFILL": _end_backfill,
}
