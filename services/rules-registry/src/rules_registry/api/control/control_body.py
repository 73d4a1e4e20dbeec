"""The body of a control command: its name, and what that command is about."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast, get_args

from rules_registry.api.control import control_members as members
from rules_registry.api.control.control_members import Member, WrongMember
from rules_registry.domain.commands import (
    ClearGroup,
    ClearRule,
    Control,
    EndBackfill,
    TraceRule,
    VoidTransaction,
)
from rules_registry.domain.events import Command
from tripline_contracts.event_type import EventType
from tripline_http.errors import FieldError, invalid_input

BODY_SCHEMA: Final = "ControlCommandBody"
DEFAULT_SECONDS: Final = 300
MAX_SECONDS: Final = 3_600
Json = dict[str, Any]


@functools.cache
def _members(event_type: EventType) -> Mapping[Command, Mapping[str, Member]]:
    """By command; those of the others are none."""
    return {
        "TRACE_RULE": {
            "ruleId": members.rule_id("The rule whose evaluations are to be told"),
            "seconds": members.integer(
                1, MAX_SECONDS, "For how long, of record time", default=DEFAULT_SECONDS
            ),
        },
        "CLEAR_RULE": {"ruleId": members.rule_id("The rule that is to forget")},
        "CLEAR_GROUP": {
            "ruleId": members.rule_id("The rule that is to forget the group"),
            "group": members.group(event_type),
        },
        "VOID_TRANSACTION": {
            "transactionId": members.transaction_id(event_type),
            "eventTime": members.time("ms; with the id it says which transaction"),
        },
        "START_BACKFILL": {},
        "END_BACKFILL": {
            "backfillId": members.backfill_id(),
            "completeFrom": members.time(
                "Event time in ms from which on history is whole now", required=False
            ),
        },
    }


_TITLES: Final[Mapping[Command, str]] = {
    "TRACE_RULE": "the trace of one rule",
    "CLEAR_RULE": "one rule forgets",
    "CLEAR_GROUP": "one group of a rule is forgotten",
    "VOID_TRANSACTION": "a transaction is as if it had not been",
    "END_BACKFILL": "the end of a backfill",
}


def read_control_body(body: Mapping[str, Any], event_type: EventType) -> Control:
    """Reads the body; raises the 422 problem that names every wrong field."""
    word, of_commands = body.get("command"), _members(event_type)
    if not isinstance(word, str) or word not in get_args(Command):
        wrong = [FieldError("command", f"expected one of {', '.join(get_args(Command))}")]
        raise _invalid([*wrong, *_misplaced(body, {}, of_commands)])
    command = cast("Command", word)
    members = of_commands.get(command, {})
    values: Json = {}
    errors = [*_misplaced(body, members, of_commands), *_read(body, members, values)]
    if errors:
        raise _invalid(errors)
    return _control(command, values)


def _control(command: Command, values: Json) -> Control:
    match command:
        case "TRACE_RULE":
            return TraceRule(values["ruleId"], values.get("seconds", DEFAULT_SECONDS))
        case "CLEAR_RULE":
            return ClearRule(values["ruleId"])
        case "CLEAR_GROUP":
            return ClearGroup(values["ruleId"], values["group"])
        case "VOID_TRANSACTION":
            return VoidTransaction(values["transactionId"], values["eventTime"])
        case "END_BACKFILL":
            return EndBackfill(values["backfillId"], values.get("completeFrom"))
        case _:
            return command


def _misplaced(
    body: Mapping[str, Any],
    members: Mapping[str, Member],
    of_commands: Mapping[Command, Mapping[str, Member]],
) -> Iterator[FieldError]:
    for name in body:
        if name == "command" or name in members:
            continue
        having = [command for command, its in of_commands.items() if name in its]
        yield FieldError(name, f"goes with {' and '.join(having)} only" if having else "unknown field")


def _read(body: Mapping[str, Any], members: Mapping[str, Member], values: Json) -> Iterator[FieldError]:
    for name, member in members.items():
        if name not in body:
            if member.required:
                yield FieldError(name, f"expected: {member.schema['description']}")
            continue
        try:
            values[name] = member.read(body[name])
        except WrongMember as wrong:
            yield FieldError(f"{name}.{wrong.path}" if wrong.path else name, str(wrong))


def _invalid(errors: list[FieldError]) -> Exception:
    return invalid_input(errors, "This is no control command.")


def control_body_schema(event_type: EventType) -> Json:
    """The body in JSON Schema: one closed object for the commands that need nothing more, one for each other."""
    of_commands = _members(event_type)
    plain = [command for command in get_args(Command) if not of_commands.get(command)]
    return {
        "description": "What is to be done.",
        "anyOf": [
            _closed("a command to the whole line", plain, {}),
            *(_closed(_TITLES[command], [command], its) for command, its in of_commands.items() if its),
        ],
    }


def _closed(title: str, commands: list[Command], its: Mapping[str, Member]) -> Json:
    return {
        "title": title,
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": commands},
            **{name: dict(member.schema) for name, member in its.items()},
        },
        "required": ["command", *(name for name, member in its.items() if member.required)],
        "additionalProperties": False,
    }
