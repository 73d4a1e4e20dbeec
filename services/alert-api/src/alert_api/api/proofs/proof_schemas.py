"""Schemas of what is said about proofs."""

from __future__ import annotations

from typing import Any


def proof_schemas() -> dict[str, dict[str, Any]]:
    """By their names in the OpenAPI document."""
    return {
        "Verification": _verification(),
        "Verifications": _verifications(),
        "Explanation": _explanation(),
        "ContributorPage": _contributor_page(),
        "Judgement": _judgement(),
    }


def _verification() -> dict[str, Any]:
    count = {"type": "integer", "minimum": 0}
    anything: dict[str, Any] = {
        "description": "A value of the alert, or a sentence; null where there is none"
    }
    return {
        "type": "object",
        "required": [
            "alertId", "verifiedAt", "verifiedBy", "outcome", "differences", "derived", "engine", "evaluator",
            "microBatch", "read",
        ],
        "additionalProperties": False,
        "properties": {
            "alertId": {"type": "string", "format": "uuid"},
            "verifiedAt": {"type": "integer", "description": "ms since the epoch"},
            "verifiedBy": {"type": "string"},
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
            "evaluator": {"type": ["string", "null"], "description": "Version of the program that judged again"},
            "microBatch": {"type": ["integer", "null"], "description": "In which the alert came about"},
            "read": {
                "type": "object",
                "required": ["transactions", "selected", "seconds"],
                "additionalProperties": False,
                "properties": {"transactions": count, "selected": count, "seconds": {"type": "number"}},
            },
        },
    }  # fmt: skip


def _verifications() -> dict[str, Any]:
    whole = _verification()["properties"]
    kept = ("alertId", "verifiedAt", "verifiedBy", "outcome", "differences", "engine", "evaluator")
    items = {"type": "array", "maxItems": 100, "items": _closed({name: whole[name] for name in kept})}
    return _closed({"items": items})


def _nullable(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": [kind, "null"], **more}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def _contributor(**more: Any) -> dict[str, Any]:
    value = _nullable("string", description="What was aggregated; null for COUNT")
    return _closed(
        {"transactionId": {"type": "string"}, "eventTime": {"type": "integer"}, "value": value, **more}
    )


def _contributor_page() -> dict[str, Any]:
    item = _contributor(
        transaction=_nullable("object", description="All its fields, as they were read"),
        partition=_nullable("integer", description="Of transactions.v1"),
        offset=_nullable("integer"),
    )
    return _closed(
        {
            "count": {"type": "integer", "minimum": 0, "description": "How many contribute"},
            "listed": {"type": "integer", "minimum": 0, "description": "How many of them all pages have"},
            "items": {"type": "array", "maxItems": 100, "items": item},
        }
    )


_GROUPING: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "object"]},
    "description": "Fields, and amounts in steps as objects with field and step",
}


def _explained_condition() -> dict[str, Any]:
    contributors = _closed(
        {
            "count": {"type": "integer", "minimum": 0},
            "transactions": {"type": "array", "maxItems": 100, "items": _contributor()},
            "truncated": {"type": "boolean"},
        }
    )
    return _closed(
        {
            "groupingKeyNames": _GROUPING,
            "aggregatorFunctionType": _nullable("string"),
            "aggregateFieldName": _nullable("string"),
            "value": _nullable("string"),
            "operator": {"type": "string"},
            "limit": _nullable("string"),
            "holds": {"type": "boolean"},
            "windowStart": {"type": "integer"},
            "windowEnd": {"type": "integer"},
            "precision": _nullable("object", description="Of a rule in buckets, as in the alert"),
            "contributors": contributors,
            "limitMeasure": {
                "anyOf": [_limit_measure(contributors), {"type": "null"}],
                "description": "What a relative limit was made of; null of one that is a number",
            },
        }
    )


def _explanation() -> dict[str, Any]:
    rule = _closed(
        {
            "ruleId": {"type": "integer"},
            "version": {"type": "integer"},
            "unavailable": _nullable(
                "string", description="Why the registry says nothing; all else is null then"
            ),
            "name": _nullable("string"),
            "definition": _nullable("object"),
            "publishedBy": _nullable("string"),
            "publishedAt": _nullable("integer", description="ms since the epoch"),
            "reason": _nullable("string"),
            "effectiveFrom": _nullable("integer"),
            "effectiveUntil": _nullable("integer"),
            "author": _nullable("string"),
            "approvedBy": _nullable("string", description="null: it was published without an approval"),
            "approvedAt": _nullable("integer"),
            "versionNow": _nullable("integer"),
            "stateNow": _nullable("string"),
            "changedSince": _nullable("string", description="In words; null where nothing has"),
        }
    )
    return _closed(
        {
            "alertId": {"type": "string", "format": "uuid"},
            "sentence": {"type": "string"},
            "outcome": {"enum": ["match", "mismatch"]},
            "conditions": {"type": "array", "items": _explained_condition()},
            "weighted": {
                "type": ["array", "null"],
                "items": {"type": "object"},
                "description": "Of a rule that weighs conditions: what their weights came to, as in the alert",
            },
            "rule": rule,
        }
    )


LIMIT_MEASURE = (
    "groupingKeyNames", "aggregatorFunctionType", "aggregateFieldName", "value", "times", "plus", "plusDeviations",
    "deviation", "windowStart", "windowEnd", "contributors",
)  # fmt: skip
"""What is said of the measure behind a limit, as the alert has it."""


def _limit_measure(contributors: dict[str, Any]) -> dict[str, Any]:
    of_deviations = "Of a limit in deviations"
    said = {
        "groupingKeyNames": _GROUPING,
        "aggregatorFunctionType": {"type": "string"},
        "plusDeviations": _nullable("string", description=of_deviations),
        "deviation": _nullable("string", description=of_deviations),
        "windowStart": {"type": "integer"},
        "windowEnd": {"type": "integer"},
        "contributors": contributors,
    }
    return _closed({name: said.get(name, _nullable("string")) for name in LIMIT_MEASURE})


REASONS = (
    "alerted", "limit", "cooldown", "held_before", "late", "filtered", "null_field", "duplicate", "backfilled",
    "paused", "not_in_force", "rejected", "snoozed",
)  # fmt: skip


def _judged_rule() -> dict[str, Any]:
    of_evaluation = "null where the rule did not evaluate it"
    return _closed(
        {
            "ruleId": {"type": "integer"},
            "version": {
                "type": "integer",
                "description": "In force at its event time; if none was, the newest then. Of a group on trial the"
                " version on trial",
            },
            "name": {"type": "string"},
            "reason": {
                "enum": list(REASONS),
                "description": "limit: the rule did not hold. held_before: it alerts at crossings, and had held at the"
                " evaluation before. late: it came late, and the rule stores late ones or alerts at crossings."
                " snoozed: it alerted, and a snooze covers the alert",
            },
            "group": {"type": "object"},
            "side": _nullable(
                "string",
                description="Of the entry, where the rule groups by a party: each is judged by itself",
            ),
            "value": _nullable("string", description=of_evaluation),
            "operator": _nullable("string"),
            "limit": _nullable("string"),
            "count": _nullable("integer", description="How many transactions the value came from"),
            "windowStart": _nullable("integer"),
            "windowEnd": _nullable("integer"),
            "late": _nullable("boolean"),
            "warm": _nullable(
                "boolean", description="false: the window may lack what the engine had not seen"
            ),
            "conditions": {"type": ["array", "null"], "items": {"type": "object"}},
            "weighted": {
                "type": ["array", "null"],
                "items": {"type": "object"},
                "description": "Of a rule that weighs conditions: what their weights came to, as in an alert",
            },
            "alertId": _nullable("string"),
            "onTrial": {
                "anyOf": [
                    _closed(
                        {
                            "percent": {"type": "integer", "description": "Of groups, then"},
                            "bucket": {"type": "integer", "description": "The group's, below percent"},
                            "activeVersion": {
                                "type": "integer",
                                "description": "In whose place it judged the group",
                            },
                        }
                    ),
                    {"type": "null"},
                ],
                "description": "Of a rollout: the group is among those that the version on trial counts for",
            },
            "snoozeId": _nullable("integer", description="Of the snooze that covers the alert"),
        }
    )


def _judgement() -> dict[str, Any]:
    return _closed(
        {
            "transactionId": {"type": "string"},
            "eventTime": {"type": "integer"},
            "recordTime": {"type": "integer"},
            "partition": {"type": "integer"},
            "offset": {"type": "integer"},
            "transaction": {"type": "object"},
            "engine": {"type": "string"},
            "microBatch": {"type": "integer"},
            "rejected": {
                "anyOf": [
                    _closed({"reason": {"type": "string"}, "detail": {"type": "string"}}),
                    {"type": "null"},
                ]
            },
            "voidedAt": _nullable(
                "integer", description="Position in rules.v1 of the command that made it void since"
            ),
            "rules": {"type": "array", "items": _judged_rule()},
        }
    )
