"""The body of a control command: its name, and of TRACE_RULE which rule and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from rules_registry.domain.commands import Control, TraceRule
from rules_registry.domain.events import Command
from tripline_contracts.legacy import ControlType
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import MAX_ID

BODY_SCHEMA: Final = "ControlCommandBody"
DEFAULT_SECONDS: Final = 300
MAX_SECONDS: Final = 3_600
Json = dict[str, Any]

_OF_A_TRACE: Final = {"ruleId": (1, MAX_ID), "seconds": (1, MAX_SECONDS)}


def read_control_body(body: Mapping[str, Any]) -> Control:
    """Reads the body; raises the 422 problem that names every wrong field."""
    errors = list(_errors(body))
    if errors:
        raise invalid_input(errors, "This is no control command.")
    command: Command = body["command"]
    if command == "TRACE_RULE":
        return TraceRule(body["ruleId"], body.get("seconds", DEFAULT_SECONDS))
    return command


def _errors(body: Mapping[str, Any]) -> Iterator[FieldError]:
    command = body.get("command")
    if not isinstance(command, str) or command not in get_args(Command):
        yield FieldError("command", f"expected one of {', '.join(get_args(Command))}")
    is_trace = command == "TRACE_RULE"
    for name, value in body.items():
        if name in _OF_A_TRACE and is_trace:
            low, high = _OF_A_TRACE[name]
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                yield FieldError(name, f"expected an integer from {low} to {high}")
        elif name in _OF_A_TRACE:
            yield FieldError(name, "goes with TRACE_RULE only")
        elif name != "command":
            yield FieldError(name, "unknown field")
    if is_trace and "ruleId" not in body:
        yield FieldError("ruleId", "expected the id of the rule to trace")


def control_body_schema() -> Json:
    """The body in JSON Schema: one closed object for the commands that need nothing more, one for the trace."""
    plain: Json = {"command": {"type": "string", "enum": list(get_args(ControlType))}}
    trace: Json = {
        "command": {"type": "string", "enum": ["TRACE_RULE"]},
        **{
            name: {"type": "integer", "minimum": low, "maximum": high}
            for name, (low, high) in _OF_A_TRACE.items()
        },
    }
    trace["ruleId"]["description"] = "The rule whose evaluations are to be told"
    trace["seconds"] |= {"description": "For how long, of record time", "default": DEFAULT_SECONDS}
    return {
        "description": "What is to be done.",
        "anyOf": [
            _closed("a command to the whole line", plain, ["command"]),
            _closed("the trace of one rule", trace, ["command", "ruleId"]),
        ],
    }


def _closed(title: str, properties: Json, required: list[str]) -> Json:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
