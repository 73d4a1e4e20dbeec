"""Groupings in JSON Schema for OpenAPI: as a program should send them, and as they are answered."""

from __future__ import annotations

from typing import Any, Final

from tripline_contracts.event_type import EventType
from tripline_http.fields import DECIMAL_PATTERN

Json = dict[str, Any]

GROUPING_SCHEMA: Final = "RuleGrouping"
GROUPING_REF: Final = {"$ref": f"#/components/schemas/{GROUPING_SCHEMA}"}
_ABOVE_0: Final = r"^(?=[0-9.]*[1-9])[0-9]{1,18}(\.[0-9]{1,6})?$"
MAX_WHOLE: Final = 10**18 - 1
"""Of a decimal(24,6), without its places."""

GROUPING_KEY: Final = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "step": {"type": "string", "pattern": DECIMAL_PATTERN},
            },
            "required": ["field", "step"],
            "additionalProperties": False,
        },
    ],
    "description": "A field, or one of amounts in steps: floor(amount / step) × step",
}


def grouping_schema(event: EventType) -> Json:
    """Fields and a party as they are, and amounts in steps; each field once, and one party at most."""
    field: Json = {"type": "string", "enum": list(event.groupings)}
    step = {
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": list(event.measures)},
            "step": {"type": ["string", "integer"], "pattern": _ABOVE_0, "minimum": 1, "maximum": MAX_WHOLE},
        },
        "required": ["field", "step"],
        "additionalProperties": False,
    }
    parties = [party.name for party in event.parties]
    once = [_at_most_one({"anyOf": [{"const": name}, _steps_of(name)]}) for name in event.measures]
    once += [_at_most_one({"enum": parties})] if len(parties) > 1 else []
    return {
        "type": "array",
        "uniqueItems": True,
        "maxItems": len(event.groupings) - max(0, len(parties) - 1),
        **({"allOf": once} if once else {}),
        "items": {"anyOf": [field, step]} if event.measures else field,
        "description": "A set of fields; [] is one global group. A party may be one of them: each transaction is an "
        "entry for each of its sides that has a value. An amount may stand in it in steps, as "
        '{"field", "step"}: groups by floor(amount / step) × step. No field stands in it twice',
    }


def _at_most_one(item: Json) -> Json:
    return {"contains": item, "minContains": 0, "maxContains": 1}


def _steps_of(name: str) -> Json:
    return {"type": "object", "properties": {"field": {"const": name}}, "required": ["field"]}
