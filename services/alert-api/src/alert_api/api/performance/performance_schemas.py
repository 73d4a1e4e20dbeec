"""Components of the OpenAPI document: what rules are worth."""

from __future__ import annotations

from typing import Any

from alert_api.api.schemas import object_of
from alert_api.domain.cases.work_events import OUTCOMES


def performance_schemas() -> dict[str, dict[str, Any]]:
    """By name."""
    version = {"$ref": "#/components/schemas/VersionPerformance"}
    span = {"from": _time(), "to": _time(), "items": {"type": "array", "items": version}}
    day = object_of({"day": _time(), "ruleVersion": _count(1), "alerts": _count(1)})
    return {
        "VersionPerformance": _version(),
        "RulePerformanceList": object_of(span),
        "RulePerformance": object_of({**span, "days": {"type": "array", "items": day}}),
    }


def _version() -> dict[str, Any]:
    share = {"type": "number", "minimum": 0, "maximum": 1}
    return object_of(
        {
            "ruleId": _count(1),
            "ruleName": {"type": "string", "description": "Of the newest alert; empty where there is none"},
            "ruleVersion": _count(1),
            "alerts": _count(0),
            "cases": object_of({outcome: _count(0) for outcome in OUTCOMES}),
            "precision": _or_null(object_of({"value": share, "low": share, "high": share})),
            "acknowledgedIn": _or_null(_spread()),
            "resolvedIn": _or_null(_spread()),
            "alwaysWrong": {
                "type": "boolean",
                "description": "Five cases or more were false positives, and none was fraud",
            },
        }
    )


def _spread() -> dict[str, Any]:
    # negative where the clocks of engine and API differ
    return object_of({"median": {"type": "integer"}, "p95": {"type": "integer"}})


def _time() -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": "In ms since the epoch"}


def _count(least: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [schema, {"type": "null"}]}
