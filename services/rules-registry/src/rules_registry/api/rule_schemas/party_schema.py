"""What a rule by a party says in JSON Schema for OpenAPI, where it says it otherwise than a rule by fields."""

from __future__ import annotations

from typing import Any

from tripline_contracts.event_type import SIDE, EventType

Json = dict[str, Any]


def fields_alone(event: EventType) -> Json:
    """Of a grouping: no party is in it. Nothing where the type has none."""
    parties = [party.name for party in event.parties]
    return {"not": {"contains": {"enum": parties}}} if parties else {}


def without_a_party(event: EventType, member: str, value: object) -> Json:
    """Where that member has that value the rule groups by fields alone. Nothing where the type has no party."""
    grouping = fields_alone(event)
    if not grouping:
        return {}
    return {
        "if": {"properties": {member: {"const": value}}, "required": [member]},
        "then": {"properties": {"groupingKeyNames": grouping}},
    }


def by_a_party(event: EventType) -> Json:
    """A grouping by a party alone, and the filter that it brings; other fields and filters go beside both."""
    side = {
        "type": "object",
        "properties": {SIDE: {"type": "string", "enum": list(event.parties[0].side_names)}},
        "required": [SIDE],
        "additionalProperties": False,
    }
    return {
        "groupingKeyNames": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {"type": "string", "enum": [event.parties[0].name]},
            "description": "A party: each transaction is an entry for each of its sides that has a value. Fields are "
            "read beside it",
        },
        "filter": {
            "anyOf": [side, {"type": "null"}],
            "description": "The side of the entries. All that filters say is read beside it, in conditions too",
        },
        "resetOnAlert": {"enum": [False, None]},
    }
