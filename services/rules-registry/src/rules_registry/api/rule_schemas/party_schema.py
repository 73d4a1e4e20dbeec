"""What a rule by a party says in JSON Schema for OpenAPI, where it says it otherwise than a rule by fields."""

from __future__ import annotations

from typing import Any

from tripline_contracts.event_type import SIDE, EventType

Json = dict[str, Any]


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
