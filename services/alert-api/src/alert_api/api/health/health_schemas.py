"""The answer of /v1/health as JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from alert_api.domain.health.part_health import LEVELS, PARTS, SECTIONS
from tripline_http.fields import MAX_MS, MAX_POSITION

_TEXT: Final = {"type": "string", "minLength": 1}
_MS: Final = {"type": "integer", "minimum": 0, "maximum": MAX_MS}
_POSITION: Final = {"type": "integer", "minimum": 0, "maximum": MAX_POSITION}


def _or_null(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"], "description": description}


def _object(members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(members),
        "additionalProperties": False,
        "properties": members,
        **more,
    }


def health_schemas() -> dict[str, dict[str, Any]]:
    """By name."""
    trouble = _object(
        {
            "sentence": {**_TEXT, "description": "What is wrong"},
            "advice": {**_TEXT, "description": "What to do"},
            "section": {"enum": list(SECTIONS), "description": "The section of the runbook that says more"},
        }
    )
    shard = _object({"shard": {"type": "string"}, "position": _POSITION})
    part = _object(
        {
            "part": {"enum": list(PARTS)},
            "title": _TEXT,
            "level": {
                "enum": list(LEVELS),
                "description": "good only where it was seen and nothing is wrong; not_seen where nothing is known",
            },
            "seenAt": _or_null(_MS, "In ms; null where this service has not seen it since its start"),
            "lag": _or_null(
                {"type": "integer", "minimum": 0}, "Records that wait for it; of the relay events of rules"
            ),
            "position": _or_null(_POSITION, "Of the rule log, as it has applied it"),
            "shards": {"type": "array", "items": shard, "description": "Of an engine"},
            "trouble": {"oneOf": [{"type": "null"}, trouble]},
        }
    )
    line = _object(
        {
            "lookedAt": _MS,
            "published": _or_null(_POSITION, "The newest position of the rule log"),
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/PartHealth"}},
        },
        description="Every part of the line, in its order",
    )
    return {"LineHealth": line, "PartHealth": part}
