"""Commands of operators, as the control events of rules.v1 carry them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tripline_engine.domain.rules.exclusions import Group


@dataclass(frozen=True, slots=True)
class ClearState:
    """Forget all accepted transactions and firing states; ids stay."""


@dataclass(frozen=True, slots=True)
class ExportRules:
    """Tell the rules that each shard holds."""


@dataclass(frozen=True, slots=True)
class TraceRule:
    """Tell the evaluations of one rule for transactions with a record time (ms) before ``until``."""

    rule_id: int
    until: int


@dataclass(frozen=True, slots=True)
class ClearRule:
    """Forget for one rule what was accepted before, and its firing states."""

    rule_id: int


@dataclass(frozen=True, slots=True)
class ClearGroup:
    """The same for one group alone, of the versions that there are and group so."""

    rule_id: int
    group: Group


@dataclass(frozen=True, slots=True)
class VoidTransaction:
    """Every accepted transaction with this id and event time (ms) is from now on as if it had not been; ids stay."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class StartBackfill:
    """Records that name this backfill are let in whatever their age."""

    name: str


@dataclass(frozen=True, slots=True)
class EndBackfill:
    """They are no longer; from ``complete_from`` (ms) on, if that is told, no history is missing from before."""

    name: str
    complete_from: int | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A command that asks nothing of a shard: no clear is ever standing; the registry deletes rules one by one."""


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


def read_command(event: Mapping[str, Any]) -> Command:
    """The command of a control event.

    :raises LookupError: if a member is missing
    :raises ValueError: if it is another command, or a member is not what it should be
    """
    name = event["command"]
    if not isinstance(name, str) or name not in _READERS:
        raise ValueError(f"unknown command {name!r}")
    return _READERS[name](event)


def read_integer(event: Mapping[str, Any], name: str) -> int:
    """The member, an integer; LookupError if it is missing, ValueError if it is something else."""
    value = event[name]
    if not is_integer(value):
        raise ValueError(f"{name} must be an integer that JSON can carry")
    return int(value)


def read_text(event: Mapping[str, Any], name: str) -> str:
    """The member, a text; LookupError if it is missing, ValueError if it is something else."""
    value = event[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text")
    return value


def is_integer(value: object) -> bool:
    """Whether it is an integer that canonical JSON, and so an alert's id, knows: none beyond 2^53."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**53) < value < 2**53


def _end_backfill(event: Mapping[str, Any]) -> EndBackfill:
    told = event.get("completeFrom") is not None
    complete_from = read_integer(event, "completeFrom") if told else None
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
