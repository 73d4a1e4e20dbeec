"""Schemas of what is said about proofs."""

from __future__ import annotations

from typing import Any


def proof_schemas() -> dict[str, dict[str, Any]]:
    """By their names in the OpenAPI document."""
    return {"Verification": _verification()}


def _verification() -> dict[str, Any]:
    count = {"type": "integer", "minimum": 0}
    anything: dict[str, Any] = {
        "description": "A value of the alert, or a sentence; null where there is none"
    }
    return {
        "type": "object",
        "required": [
            "alertId", "verifiedAt", "outcome", "differences", "derived", "engine", "microBatch", "read",
        ],
        "additionalProperties": False,
        "properties": {
            "alertId": {"type": "string", "format": "uuid"},
            "verifiedAt": {"type": "integer", "description": "ms since the epoch"},
            "outcome": {"enum": ["match", "mismatch"]},
            "differences": {
                "type": "array",
                "description": "At most 200. Of a contributor: missing from the alert, added to it, or altered in it",
                "items": {
                    "type": "object",
                    "required": ["kind", "member", "stored", "derived"],
                    "additionalProperties": False,
                    "properties": {
                        "kind": {
                            "enum": ["member", "missing", "added", "altered", "not_derived", "history"]
                        },
                        "member": {"type": "string"},
                        "stored": anything,
                        "derived": anything,
                    },
                },
            },
            "derived": {
                "type": ["object", "null"],
                "description": "The alert as alerts.v1 would carry it; null where none comes of the recorded order",
            },
            "engine": {"type": "string", "description": "The engine whose recorded order was followed"},
            "microBatch": {"type": ["integer", "null"], "description": "In which the alert came about"},
            "read": {
                "type": "object",
                "required": ["transactions", "selected", "seconds"],
                "additionalProperties": False,
                "properties": {"transactions": count, "selected": count, "seconds": {"type": "number"}},
            },
        },
    }  # fmt: skip
