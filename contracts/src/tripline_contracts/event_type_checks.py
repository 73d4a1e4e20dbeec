"""Checks of an event type: the properties that every component relies on; every refusal says why."""

from __future__ import annotations

import re
from typing import Final

from tripline_contracts.errors import InvalidEventType
from tripline_contracts.event_type import SIDE, TEXT_KINDS, EventType, Field, Party

MAX_ANCHORS: Final = 8
"""A transaction carries a bit for each of them that says whether it is in a shard for its sake."""
MAX_SIDES: Final = 7
"""Of all parties together: a bit for each of them too."""
MAX_TEXT: Final = 64
"""Code points of an id, a key or an attribute: what groups, named lists and alerts hold."""
RESERVED: Final = frozenset({"global", "mask", "offset", "partition", "recordtime", "runningmax"})
"""In any case: the anchor of all rules, and the columns that the engine keeps beside the type's own."""

_TYPE_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_FIELD_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def check(event_type: EventType) -> None:
    """Raises InvalidEventType for a type that contradicts itself, or that could not be judged."""
    if not _TYPE_NAME.fullmatch(event_type.name):
        raise InvalidEventType(f"{event_type.name!r} is no name of a type: lower case, digits and -")
    _check_names(event_type.fields)
    _check_times(event_type.fields)
    for field in event_type.fields:
        _check_kind(field)
        _check_texts(field)
    _check_parties(event_type)
    _check_anchors(event_type)
    if sorted(event_type.columns) != sorted(field.name for field in event_type.fields):
        raise InvalidEventType("columns is the order of a recording's columns: each field once")


def _check_names(fields: tuple[Field, ...]) -> None:
    names = [name for field in fields for name in field.names]
    for name in names:
        if not _FIELD_NAME.fullmatch(name) or name.casefold() in RESERVED:
            raise InvalidEventType(
                f"{name!r} is no name of a field: expected letters, digits and _, a letter first, at most 64, and none"
                f" of {', '.join(sorted(RESERVED))}"
            )
    if len({name.casefold() for name in names}) != len(names):
        raise InvalidEventType("two fields share a name or an alias (cases are not told apart)")


def _check_kind(field: Field) -> None:
    if field.role == "measure" and (field.kind != "decimal" or not field.required):
        raise InvalidEventType(
            f"{field.name}: a measure is a decimal, and required: there is no aggregate of nulls"
        )
    if field.role in ("key", "attribute") and field.kind not in TEXT_KINDS:
        raise InvalidEventType(
            f"{field.name}: a key or an attribute is one of {', '.join(TEXT_KINDS)}: groups are told apart by texts"
        )


def _check_texts(field: Field) -> None:
    if field.max_length is not None and field.max_length > MAX_TEXT:
        raise InvalidEventType(f"{field.name}: expected a maxLength of at most {MAX_TEXT}")
    if not all(len(value) <= MAX_TEXT and "\0" not in value for value in field.values):
        raise InvalidEventType(
            f"{field.name}: expected values of at most {MAX_TEXT} characters, without U+0000"
        )


def _check_times(fields: tuple[Field, ...]) -> None:
    _exactly_one("id field", [f for f in fields if f.role == "id"], "string")
    _exactly_one("time field", [f for f in fields if f.role == "time" and not f.ingestion], "timestamp")
    ingestion = [f for f in fields if f.ingestion]
    if len(ingestion) > 1 or any(f.role != "time" or f.kind != "timestamp" or f.required for f in ingestion):
        raise InvalidEventType("at most one ingestion field: a timestamp with the role time, not required")


def _exactly_one(what: str, candidates: list[Field], kind: str) -> None:
    if len(candidates) != 1 or not candidates[0].required or candidates[0].kind != kind:
        raise InvalidEventType(f"expected exactly one {what}, required, of kind {kind}")


def _check_parties(event_type: EventType) -> None:
    taken = {name.casefold() for field in event_type.fields for name in field.names} | RESERVED
    names = [party.name.casefold() for party in event_type.parties]
    for party in event_type.parties:
        name = party.name.casefold()
        if not _FIELD_NAME.fullmatch(party.name) or name in taken | {SIDE} or names.count(name) > 1:
            raise InvalidEventType(
                f"{party.name!r} is no name of a party: expected letters, digits and _, a letter first, at most 64, and"
                f" no field's, no other party's, and none of {', '.join(sorted(RESERVED | {SIDE}))}"
            )
        _check_sides(party, event_type)
    if event_type.parties and SIDE in taken:
        raise InvalidEventType(f"beside parties no field is called {SIDE}: that is what alerts call theirs")
    if sum(len(party.sides) for party in event_type.parties) > MAX_SIDES:
        raise InvalidEventType(f"expected at most {MAX_SIDES} sides in all parties together")


def _check_sides(party: Party, event_type: EventType) -> None:
    folded = {side.name.casefold() for side in party.sides}
    if len(party.sides) < 2 or len(folded) < len(party.sides):
        raise InvalidEventType(f"{party.name}: expected at least two sides, each with a name of its own")
    for side in party.sides:
        if not _FIELD_NAME.fullmatch(side.name):
            raise InvalidEventType(
                f"{party.name}: {side.name!r} is no name of a side: letters, digits and _, a letter first"
            )
    fields = [field for field in event_type.fields if field.name in party.fields]
    if len(fields) < len(party.sides) or any(field.role not in ("key", "attribute") for field in fields):
        raise InvalidEventType(f"{party.name}: expected for each side a key or an attribute of its own")
    if len({(field.kind, field.values) for field in fields}) > 1:
        raise InvalidEventType(f"{party.name}: the fields of its sides are of different kinds; expected one")


def _check_anchors(event_type: EventType) -> None:
    *named_anchors, last = event_type.anchors or ("",)
    if last != "global":
        raise InvalidEventType("the last anchor is global: rules that contain no other one run there")
    foreign = {*named_anchors} - {f.name for f in event_type.fields if f.role in ("key", "attribute")}
    if foreign:
        raise InvalidEventType(
            f"anchors that rules cannot group by, or that are numbers: {', '.join(sorted(foreign))}"
        )
    unknown = {*event_type.kept_anchors} - {*event_type.all_anchors}
    if unknown:
        raise InvalidEventType(f"keptAnchors names what is no anchor: {', '.join(sorted(unknown))}")
    if not 1 <= len(named_anchors) < MAX_ANCHORS:
        raise InvalidEventType(
            f"expected 1 to {MAX_ANCHORS - 1} anchors before global: by them work and history are spread over shards"
        )
