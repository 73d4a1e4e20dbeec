"""The filter of a rule in JSON Schema for OpenAPI: the contracts' grammar, as a program should send it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from tripline_contracts import decimals
from tripline_contracts.event_type import SIDE, TEXT_KINDS, EventType, Field
from tripline_contracts.filters import filter_parser, named_values, time_zones
from tripline_contracts.filters.filter_constants import WHOLE_BOUND, operators_of
from tripline_contracts.filters.filter_leaves import TEXT_OPERATORS, WEEK
from tripline_contracts.normal_forms.ip_addresses import EXPECTED_ADDRESS, EXPECTED_NETWORK
from tripline_contracts.normal_forms.positions import EXPECTED_POSITION, WRITTEN_POSITION
from tripline_http.fields import DECIMAL_PATTERN, MAX_MS

TIME_ZONE_FORMAT = "time-zone"
FILTER_SCHEMA = "RuleFilter"
FILTER_REF = {"$ref": f"#/components/schemas/{FILTER_SCHEMA}"}
Json = dict[str, Any]


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


_NAME = {"type": "string", "pattern": f"^{named_values.NAME_PATTERN}$"}
_ABOVE_0 = r"^(?=[0-9.]*[1-9])[0-9]{1,18}(\.[0-9]{1,6})?$"
_CLOCK = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "example": "22:00"}
_NETWORK = {
    "type": "string",
    "pattern": r"^(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.0\.0\.0/(8|16|24)$",
    "description": f"Expected {EXPECTED_NETWORK}, without bits behind its prefix; IPv6 is read too",
    "example": "10.0.0.0/8",
}
_LOCAL_TIME = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from", "to", "zone"],
    "description": (
        "What a clock in the zone shows at the event time: from the first minute on and before the other, over "
        "midnight where that is not later; the days are those on which it begins"
    ),
    "properties": {
        "zone": {
            "type": "string",
            "format": TIME_ZONE_FORMAT,
            "description": "The IANA name of a time zone, as tzdata " + time_zones.VERSION + " has them",
            "example": "Europe/Berlin",
        },
        "from": _CLOCK,
        "to": _CLOCK,
        "days": {
            "type": "array",
            "minItems": 1,
            "maxItems": len(WEEK),
            "items": {"type": "string", "enum": list(WEEK)},
        },
    },
}
PARAMETER = _object({"parameter": _NAME})
LIST = _object({"list": _NAME})


def filter_schema(event: EventType) -> Json:
    """One closed object for each part of the grammar; fields that are compared alike share theirs."""
    compared = [field for field in event.fields if field.role != "id"]
    alike: dict[str, list[Field]] = {}
    for field in compared:
        alike.setdefault(repr((field.kind, field.values, field.max_length)), []).append(field)
    operands = {
        "type": "array",
        "minItems": 1,
        "maxItems": filter_parser.MAX_COMPARISONS,
        "items": FILTER_REF,
    }
    parts = [_object({"all": operands}), _object({"any": operands}), _object({"not": FILTER_REF})]
    for fields in alike.values():
        parts += _comparisons(fields)
    parts += _tests(compared)
    if event.sides:
        side = {
            "type": "string",
            "enum": list(event.sides),
            "description": "Of the entry; beside a party alone",
        }
        parts.append(_object({SIDE: side}))
    return {
        "description": (
            "Which transactions trigger the rule and count in its windows. A comparison with null is false. Names of "
            "operators and other names of fields are read too. At most "
            f"{filter_parser.MAX_DEPTH} levels, {filter_parser.MAX_COMPARISONS} comparisons, "
            f"{filter_parser.MAX_CONSTANTS} constants."
        ),
        "anyOf": parts,
    }


def _comparisons(fields: list[Field]) -> Iterator[Json]:
    first = fields[0]
    fields_alike = _named(fields)
    operator = {"type": "string", "enum": list(operators_of(first))}
    constant = _constant(first)
    listed = {"type": "array", "minItems": 1, "maxItems": filter_parser.MAX_LIST, "items": constant}
    # Where there can be both, they are parts of their own: a checker then meets each.
    if first.kind == "decimal":
        yield _object({"field": fields_alike, "operator": operator, "value": PARAMETER})
    if first.kind in TEXT_KINDS:
        yield _object({"field": fields_alike, "in": LIST})
    yield from [
        _object({"field": fields_alike, "operator": operator, "value": constant}),
        _object({"field": fields_alike, "in": listed}),
    ]


def _tests(compared: list[Field]) -> Iterator[Json]:
    """What compares with no constant."""
    for field in compared:
        others = [other.name for other in compared if other.kind == field.kind and other != field]
        operator = {"type": "string", "enum": list(operators_of(field))}
        if others:
            other_field = {"type": "string", "enum": others}
            yield _object({"field": _named([field]), "operator": operator, "otherField": other_field})
    texts = [field for field in compared if field.kind == "string"]
    for word in TEXT_OPERATORS if texts else ():
        # of any of them no text is longer than the shortest of their bounds
        shortest = min(texts, key=lambda field: field.max_length or 0)
        yield _object({"field": _named(texts), word: _constant(shortest)})
    yield _object({"field": _named(compared), "isNull": {"type": "boolean", "enum": [True]}})
    numbers = [field for field in compared if field.kind == "decimal"]
    if numbers:
        divisor = {**_constant(numbers[0]), "pattern": _ABOVE_0, "minimum": 1}
        yield _object({"field": _named(numbers), "multipleOf": divisor})
    addresses = [field for field in compared if field.kind == "ip"]
    if addresses:
        listed = {"type": "array", "minItems": 1, "maxItems": filter_parser.MAX_LIST, "items": _NETWORK}
        yield _object({"field": _named(addresses), "inNetwork": listed})
    yield _object({"localTime": _LOCAL_TIME})


def _named(fields: list[Field]) -> Json:
    return {"type": "string", "enum": [field.name for field in fields]}


def _constant(field: Field) -> Json:
    whole = {"minimum": 1 - WHOLE_BOUND, "maximum": WHOLE_BOUND - 1}
    match field.kind:
        case "timestamp":
            return {"type": "integer", "minimum": 0, "maximum": MAX_MS, "description": "ms since the epoch"}
        case "decimal":
            text = f"decimal({decimals.WHOLE_DIGITS + decimals.PLACES},{decimals.PLACES}) as text, or a whole number"
            return {"type": ["string", "integer"], "pattern": DECIMAL_PATTERN, **whole, "description": text}
        case "enum":
            return {"type": "string", "enum": list(field.values)}
        case "ip":
            return {"type": "string", "format": "ipv4", "description": EXPECTED_ADDRESS}
        case "position":
            return {"type": "string", "pattern": f"^{WRITTEN_POSITION}$", "description": EXPECTED_POSITION}
        case "string":
            text_bounds = {"minLength": 1, "maxLength": field.max_length, "pattern": "^[^\\u0000]*$"}
            return {"type": ["string", "integer"], **text_bounds, **whole}
        case never:
            assert_never(never)
