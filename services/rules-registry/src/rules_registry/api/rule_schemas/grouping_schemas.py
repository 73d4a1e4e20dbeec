"""Groupings in JSON Schema for OpenAPI: as a program should send them, and as they are answered."""

from __future__ import annotations

from typing import Any, Final

from tripline_contracts.event_type import EventType
from tripline_http.fields import DECIMAL_PATTERN

Json = dict[str, Any]

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


def grouping(event: EventType) -> Json:
    """Fields as they are, or amounts in steps alone: that no field stands there twice is nothing a schema can say."""
    fields = {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "string", "enum": list(event.groupable)},
        "maxItems": len(event.groupable),
    }
    said = {
        "description": "A set of fields; [] is one global group. An amount may stand in it in steps, as "
        '{"field", "step"}, beside other fields too: groups by floor(amount / step) × step'
    }
    if not event.measures:
        return {**fields, **said}
    step = {
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": list(event.measures)},
            "step": {
                "type": ["string", "integer"],
                "pattern": "^[1-9][0-9]{0,17}$",
                "minimum": 1,
                "maximum": MAX_WHOLE,
            },
        },
        "required": ["field", "step"],
        "additionalProperties": False,
    }
    return {"anyOf": [fields, {"type": "array", "items": step, "minItems": 1, "maxItems": 1}], **said}
