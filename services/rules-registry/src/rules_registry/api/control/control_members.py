"""The members that a control command may have beside its name: how each is read, and how it is described."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field, Party
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_http.fields import DECIMAL_PATTERN, MAX_ID, MAX_MS

Json = dict[str, Any]
_UUID: Final = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_TEXT: Final = "^[^\\u0000]*$"


class WrongMember(ValueError):
    """A value that the member can't have. The text says what was expected, `path` where inside it."""

    def __init__(self, expected: str, path: str = "") -> None:
        super().__init__(expected)
        self.path = path


@dataclass(frozen=True, slots=True)
class Member:
    """`read` gives the value as it is kept, or raises WrongMember."""

    schema: Mapping[str, Any]
    read: Callable[[object], Any]
    required: bool = True


def integer(low: int, high: int, description: str, **more: Any) -> Member:
    """An integer, both ends included; with a `default` it may be left out."""

    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise WrongMember(f"expected an integer from {low} to {high}")
        return value

    schema = {"type": "integer", "minimum": low, "maximum": high, "description": description, **more}
    return Member(schema, read, required="default" not in more)


def time(description: str, *, required: bool = True) -> Member:
    """ms since the epoch."""
    member = integer(0, MAX_MS, description)
    return Member(member.schema, member.read, required)


def rule_id(description: str) -> Member:
    """The id of a rule."""
    return integer(1, MAX_ID, description)


def transaction_id(event_type: EventType) -> Member:
    """The id as the event type has it; an integer is written as its text."""
    field = event_type.id_field
    assert field.max_length is not None  # an id is a text
    schema = {"type": "string", "minLength": 1, "maxLength": field.max_length, "pattern": _TEXT}
    return Member(
        {**schema, "description": "Of an id that was sent as an integer its digits"},
        lambda v: _text(v, field),
    )


def backfill_id() -> Member:
    """The id of a START_BACKFILL."""
    schema = {"type": "string", "pattern": _UUID, "description": "The commandId of the START_BACKFILL"}
    return Member({**schema, "examples": ["7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04"]}, _uuid)


def group(event_type: EventType) -> Member:
    """Values of fields and parties that rules may group by, as text."""
    fields = {field.name: field for field in event_type.fields if field.groupable}
    fields |= {party.name: _party_field(party, event_type) for party in event_type.parties}
    anchored = [field for field in fields.values() if field.name in event_type.anchors]

    def read(value: object) -> dict[str, str]:
        if not isinstance(value, dict):
            raise WrongMember("expected an object with what the rule groups by, each a text")
        read = {}
        for name, inner in value.items():
            if name not in fields:
                raise WrongMember(f"unknown field or party; expected any of {', '.join(fields)}", name)
            read[name] = _group_value(inner, fields[name])
        return read

    schema = {
        "type": "object",
        "properties": {name: _group_schema(field) for name, field in fields.items()},
        "additionalProperties": False,
        "description": "Exactly the fields and the party that the rule groups by, each with the group's value; a "
        "party's group is cleared with its entries of every side",
    }
    return Member({**schema, "examples": [{field.name: _example(field) for field in anchored}]}, read)


def _party_field(party: Party, event_type: EventType) -> Field:
    """A field with the values of all its sides: they are of one kind, and the longest text may be on any."""
    sides = [event_type.field(name) for name in party.fields]
    longest = max((side.max_length for side in sides if side.max_length is not None), default=None)
    return replace(sides[0], name=party.name, max_length=longest)


def _group_schema(field: Field) -> Json:
    match field.kind:
        case "decimal":
            return {"type": "string", "pattern": DECIMAL_PATTERN, "description": "Kept plain: 10.50 is 10.5"}
        case "enum":
            return {"type": "string", "enum": list(field.values)}
        case "ip" | "position":
            form = NORMAL_TEXTS[field.kind]
            return {"type": "string", "minLength": 1, "maxLength": form.longest, "description": form.expected}
        case _:
            return {"type": "string", "minLength": 1, "maxLength": field.max_length, "pattern": _TEXT}


def _example(field: Field) -> str:
    match field.kind:
        case "ip":
            return "203.0.113.7"
        case "position":
            return "52.520008,13.404954"
        case _:
            return field.values[0] if field.values else "25"


def _group_value(value: object, field: Field) -> str:
    try:
        match field.kind:
            case "decimal":
                return _decimal(value)
            case "enum":
                if not isinstance(value, str) or value not in field.values:
                    raise WrongMember(f"expected one of {', '.join(field.values)}")
                return value
            case "ip" | "position":
                return _normal(value, field)
            case _:
                return _text(value, field)
    except WrongMember as wrong:
        raise WrongMember(str(wrong), field.name) from wrong


def _decimal(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(DECIMAL_PATTERN, value, re.ASCII):
        raise WrongMember(
            "expected a decimal number as text, of at most 18 digits before and 6 after the point"
        )
    return decimals.plain(decimals.parse(value))


def _normal(value: object, field: Field) -> str:
    """In the form in which groups are kept."""
    form = NORMAL_TEXTS[field.kind]
    normal = form.normal(value) if isinstance(value, str) else None
    if normal is None:
        raise WrongMember(f"expected {form.expected}")
    return normal


def _text(value: object, field: Field) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= (field.max_length or 0):
        raise WrongMember(f"expected a text of 1 to {field.max_length} characters")
    return value


def _uuid(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(_UUID, value):
        raise WrongMember("expected the commandId of a START_BACKFILL, a UUID")
    return value.lower()
