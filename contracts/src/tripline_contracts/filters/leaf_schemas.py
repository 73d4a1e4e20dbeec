"""The JSON Schema of the tests of `filter_leaves` over the fields of an event type, in their normalised form."""

from __future__ import annotations

from typing import Any, Final

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filters.filter_constants import operators_of
from tripline_contracts.filters.filter_leaves import TEXT_OPERATORS, WEEK
from tripline_contracts.filters.time_zones import LONGEST_NAME
from tripline_contracts.normal_forms.ip_addresses import LONGEST_NETWORK

Json = dict[str, Any]

_DECIMAL: Final = "values.json#/$defs/decimal"
_CLOCK: Final[Json] = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}


def leaf_schemas(declared: EventType) -> list[Json]:
    """One for each shape that some field can have."""
    compared = [field for field in declared.fields if field.role != "id"]
    pairs = [_with_others(field, compared) for field in compared]
    texts = [field for field in compared if field.kind == "string"]
    numbers = [field.name for field in compared if field.kind == "decimal"]
    addresses = [field.name for field in compared if field.kind == "ip"]
    return [
        *(pair for pair in pairs if pair is not None),
        *(_text_test(field, operator) for field in texts for operator in TEXT_OPERATORS),
        _object(field={"enum": [field.name for field in compared]}, isNull={"const": True}),
        *([_object(field={"enum": numbers}, multipleOf=_ABOVE_0)] if numbers else []),
        *([_object(field={"enum": addresses}, inNetwork=_NETWORKS)] if addresses else []),
        _object(localTime=_LOCAL_TIME),
        *([_object(side={"enum": list(declared.sides)})] if declared.sides else []),
    ]


def _with_others(field: Field, compared: list[Field]) -> Json | None:
    """The field beside each other one of its kind; None where there is none."""
    others = [other.name for other in compared if other.kind == field.kind and other != field]
    if not others:
        return None
    operators = {"enum": list(operators_of(field))}
    return _object(field={"enum": [field.name]}, operator=operators, otherField={"enum": others})


def _text_test(field: Field, operator: str) -> Json:
    text: Json = {"type": "string", "minLength": 1, "maxLength": field.max_length}
    properties: Json = {"field": {"enum": [field.name]}, operator: text}
    return _object(**properties)


def _object(*optional: str, **properties: Json) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if name not in optional],
        "properties": properties,
    }


_ABOVE_0: Final[Json] = {"allOf": [{"$ref": _DECIMAL}, {"not": {"pattern": "^(0$|-)"}}]}
_NETWORKS: Final[Json] = {
    "description": "each once, sorted as texts, with their prefixes",
    "type": "array",
    "minItems": 1,
    "maxItems": 1000,
    "uniqueItems": True,
    "items": {"type": "string", "pattern": "^[0-9a-f:.]+/[0-9]{1,3}$", "maxLength": LONGEST_NETWORK},
}
_LOCAL_TIME: Final = _object(
    "days",
    **{
        "zone": {
            "description": "the IANA name of a time zone that the pinned data has",
            "type": "string",
            "pattern": "^[A-Za-z][A-Za-z0-9/_+-]*$",
            "maxLength": LONGEST_NAME,
        },
        "from": {"description": "the first minute", **_CLOCK},
        "to": {
            "description": "the first minute that is not in it; not after from: on the next day",
            **_CLOCK,
        },
        "days": {
            "description": "those on which it begins, Monday first; without them every day",
            "type": "array",
            "minItems": 1,
            "maxItems": 6,
            "uniqueItems": True,
            "items": {"enum": list(WEEK)},
        },
    },
)
