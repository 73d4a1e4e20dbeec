"""Commands of operators for one rule, one transaction or one backfill (decision 0039)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.values.errors import Unreadable
from tests.oracle.values.strict_json import Value, read_number, read_text

CLEAR_RULE = "CLEAR_RULE"
CLEAR_GROUP = "CLEAR_GROUP"
VOID_TRANSACTION = "VOID_TRANSACTION"
START_BACKFILL = "START_BACKFILL"
END_BACKFILL = "END_BACKFILL"
OPERATOR_COMMANDS = (CLEAR_RULE, CLEAR_GROUP, VOID_TRANSACTION, START_BACKFILL, END_BACKFILL)


@dataclass(frozen=True, slots=True)
class ClearRule:
    """Clears the state of a rule."""

    rule_id: int


@dataclass(frozen=True, slots=True)
class ClearGroup:
    """Clears the state of one group of a rule; its values are texts."""

    rule_id: int
    group: dict[str, str]


@dataclass(frozen=True, slots=True)
class VoidTransaction:
    """Voids what was accepted with this id and this event time."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class StartBackfill:
    """Opens a backfill: records that name this id are accepted whatever their age."""

    backfill_id: str


@dataclass(frozen=True, slots=True)
class EndBackfill:
    """Closes a backfill; history is complete from `complete_from` on, in ms of event time, None if not said."""

    backfill_id: str
    complete_from: int | None


Command: TypeAlias = ClearRule | ClearGroup | VoidTransaction | StartBackfill | EndBackfill


def read_command(command: str, command_id: str, fields: dict[str, Value]) -> Command:
    """One of OPERATORS_COMMANDS with what it takes beside its name, or Unreadable."""
    if command == START_BACKFILL:
        return StartBackfill(command_id)
    if command == END_BACKFILL:
        complete_from = fields.get("completeFrom")
        return EndBackfill(
            read_text(fields.get("backfillId"), "backfillId"),
            None if complete_from is None else read_number(complete_from, "completeFrom"),
        )
    if command == VOID_TRANSACTION:
        return VoidTransaction(
            read_text(fields.get("transactionId"), "transactionId"),
            read_number(fields.get("eventTime"), "eventTime"),
        )
    rule_id = read_number(fields.get("ruleId"), "ruleId")
    if command == CLEAR_RULE:
        return ClearRule(rule_id)
    group = fields.get("group")
    if not isinstance(group, dict):
        raise Unreadable("group is not an object")
    return ClearGroup(rule_id, {name: read_text(value, name) for name, value in group.items()})
