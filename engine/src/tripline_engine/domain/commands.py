"""Commands of operators, as the control events of rules.v1 carry them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


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
class VoidTransaction:
    """Every accepted transaction with this id and event time (ms) is from now on as if it had not been; ids stay."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """A command that asks nothing of a shard: no clear is ever standing; the registry deletes rules one by one."""


Command = ClearState | ExportRules | TraceRule | ClearRule | VoidTransaction | Recorded

_RECORDED: Final = ("CLEAR_STATE_ALL_STOP", "DELETE_RULES_ALL")


def read_command(event: Mapping[str, Any]) -> Command:
    """The command of a control event.

    :raises LookupError: if a member is missing
    :raises ValueError: if it is another command, or a member is not what it should be
    """
    name = event["command"]
    match name:
        case "CLEAR_STATE_ALL":
            return ClearState()
        case "EXPORT_RULES_CURRENT":
            return ExportRules()
        case "TRACE_RULE":
            return TraceRule(read_integer(event, "ruleId"), read_integer(event, "traceUntil"))
        case "CLEAR_RULE":
            return ClearRule(read_integer(event, "ruleId"))
        case "VOID_TRANSACTION":
            return VoidTransaction(read_text(event, "transactionId"), read_integer(event, "eventTime"))
        case _ if name in _RECORDED:
            return Recorded()
        case _:
            raise ValueError(f"unknown command {name!r}")


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
