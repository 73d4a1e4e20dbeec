"""Raw values of rules.v1 read as rule events (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.parsers.definitions import Definition, hash_of, read_definition
from tests.oracle.parsers.named_values import (
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
    read_entries_change,
    read_name,
    read_texts,
)
from tests.oracle.parsers.operator_commands import OPERATOR_COMMANDS, Command, read_command
from tests.oracle.values.decimals import read_decimal
from tests.oracle.values.errors import HashMismatch, Unreadable
from tests.oracle.values.strict_json import Value, read_integer, read_number, read_object, read_text


@dataclass(frozen=True, slots=True)
class Version:
    """One definition version of a rule; effective_from and effective_until in ms of event time."""

    rule_id: int
    number: int
    name: str
    definition: Definition
    definition_hash: str
    effective_from: int
    effective_until: int | None


@dataclass(frozen=True, slots=True)
class RuleEvent:
    """What is said of a rule, or of its shadow; `number` is its own, not the definition's. Rollouts have a percent."""

    type: str
    state: str
    number: int
    version: Version
    percent: int = 0


@dataclass(frozen=True, slots=True)
class Control:
    """A ControlCommand."""

    command: str
    command_id: str


@dataclass(frozen=True, slots=True)
class TraceCommand:
    """The ControlCommand that traces one rule; until in ms of record time."""

    rule_id: int
    until: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide, in ms."""

    allowed_lateness: int = 600_000
    max_future_skew: int = 300_000
    max_disorder: int = 300_000


Content: TypeAlias = (
    "RuleEvent | Control | TraceCommand | Command | Settings"
    " | ListChanged | ListEntriesChanged | ParameterChanged"
)


@dataclass(frozen=True, slots=True)
class Positioned:
    """The content at a position of rules.v1; None if it cannot be read."""

    position: int
    content: Content | None


SHADOW_STARTED, SHADOW_ENDED = "RuleShadowStarted", "RuleShadowEnded"
SHADOW_PROMOTED, SHADOW_ROLLED_OUT = "RuleShadowPromoted", "RuleShadowRolledOut"
SHADOW_TYPES = (SHADOW_STARTED, SHADOW_ROLLED_OUT, SHADOW_ENDED, SHADOW_PROMOTED)
_RULE_TYPES = ("RulePublished", "RulePaused", "RuleResumed", "RuleDeleted", *SHADOW_TYPES)
_STATES = ("ACTIVE", "PAUSED", "DELETED")
CLEAR_STATE = "CLEAR_STATE_ALL"
EXPORT_RULES = "EXPORT_RULES_CURRENT"
TRACE_RULE = "TRACE_RULE"
_COMMANDS = (CLEAR_STATE, "CLEAR_STATE_ALL_STOP", EXPORT_RULES, "DELETE_RULES_ALL")


def read_events(raws: Iterable[bytes]) -> tuple[list[Positioned], int]:
    """The events in the order of their positions, and how many values had no readable position."""
    values = [_positioned(raw) for raw in raws]
    events = [event for event in values if event is not None]
    return sorted(events, key=lambda event: event.position), len(values) - len(events)


def _positioned(raw: bytes) -> Positioned | None:
    try:
        fields = read_object(raw)
        position = _integer(fields, "position")
    except Unreadable:
        return None
    try:
        return Positioned(position, _content(fields))
    except Unreadable:
        return Positioned(position, None)


def _content(fields: dict[str, Value]) -> Content:
    kind = read_text(fields.get("type"), "type")
    if kind == "SettingsChanged":
        return _settings(fields.get("settings"))
    if kind == "ControlCommand":
        return _control(fields)
    if kind == "ListChanged":
        return ListChanged(read_name(fields.get("name")), read_texts(fields.get("values")))
    if kind == "ListEntriesChanged":
        name = read_name(fields.get("name"))
        return read_entries_change(name, fields.get("added"), fields.get("removed"))
    if kind == "ParameterChanged":
        return ParameterChanged(read_name(fields.get("name")), read_decimal(fields.get("value"), "value"))
    if kind not in _RULE_TYPES:
        raise Unreadable("unknown type")
    state = read_text(fields.get("state"), "state")
    if state not in _STATES:
        raise Unreadable("unknown state")
    percent = _integer(fields, "percent") if kind == SHADOW_ROLLED_OUT else 0
    return RuleEvent(kind, state, _integer(fields, "version"), _version(fields), percent)


def _integer(fields: dict[str, Value], name: str) -> int:
    return read_number(fields.get(name), name)


def _control(fields: dict[str, Value]) -> Control | TraceCommand | Command:
    command = read_text(fields.get("command"), "command")
    command_id = read_text(fields.get("commandId"), "commandId")
    if command == TRACE_RULE:
        return TraceCommand(_integer(fields, "ruleId"), _integer(fields, "traceUntil"))
    if command in OPERATOR_COMMANDS:
        return read_command(command, command_id, fields)
    if command not in _COMMANDS:
        raise Unreadable("unknown command")
    return Control(command, command_id)


def _version(fields: dict[str, Value]) -> Version:
    document = fields.get("definition")
    definition = read_definition(document)
    claimed = read_text(fields.get("definitionHash"), "definitionHash")
    if claimed != hash_of(document):
        raise HashMismatch(f"definitionHash {claimed} is not that of {document}")
    return Version(
        rule_id=_integer(fields, "ruleId"),
        number=_integer(fields, "definitionVersion"),
        name=read_text(fields.get("name"), "name"),
        definition=definition,
        definition_hash=claimed,
        effective_from=_integer(fields, "effectiveFrom"),
        effective_until=_integer(fields, "effectiveUntil") if "effectiveUntil" in fields else None,
    )


def _settings(document: Value | None) -> Settings:
    if not isinstance(document, dict):
        raise Unreadable("settings is not an object")
    read_integer(document.get("idlePartitionSeconds"), "idlePartitionSeconds")
    return Settings(
        allowed_lateness=_milliseconds(document, "allowedLatenessSeconds"),
        max_future_skew=_milliseconds(document, "maxFutureSkewSeconds"),
        max_disorder=_milliseconds(document, "maxDisorderSeconds"),
    )


def _milliseconds(document: dict[str, Value], name: str) -> int:
    seconds = read_integer(document.get(name), name)
    if seconds < 0:
        raise Unreadable(f"{name} is negative")
    return 1000 * seconds
