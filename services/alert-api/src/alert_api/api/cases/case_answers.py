"""Cases: answers, and the body of the bulk command, as JSON Schemas."""

from __future__ import annotations

from typing import Any

from alert_api.api.schemas import (
    ACTOR,
    COMMENT,
    COUNT,
    MAX_ACTOR,
    MAX_COMMENT,
    TIME,
    list_of,
    nullable,
    object_of,
)
from alert_api.domain.cases.case import STATES
from alert_api.domain.cases.severity import SEVERITIES
from alert_api.domain.cases.work_events import OUTCOMES, WORK_EVENTS
from alert_api.service.cases.case_work import MOST_AT_ONCE
from tripline_contracts import display_text, schemas
from tripline_contracts.event_type import EventType
from tripline_http.fields import MAX_ID, MAX_POSITION

CASE_ID: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": MAX_POSITION}
VERSION: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": MAX_ID}
DUE: dict[str, Any] = {
    "type": "integer",
    "minimum": 0,
    "maximum": MAX_POSITION,
    "description": "ms since the epoch",
}
OUTCOME: dict[str, Any] = {"enum": [*OUTCOMES, None]}


def components(declared: EventType) -> dict[str, dict[str, Any]]:
    """The answers' schemas by their names in the OpenAPI document."""
    group = {"type": "object", "additionalProperties": {"type": "string"}}
    return {
        "Case": _case(group, declared),
        "CasePage": list_of("Case", maxItems=100),
        "CaseCounts": object_of(
            {"total": COUNT, "byState": object_of(dict.fromkeys(STATES, COUNT)), "overdue": COUNT},
        ),
        "CaseEpisode": _episode(group),
        "CaseEpisodes": list_of("CaseEpisode", maxItems=100),
        "CaseEvent": _event(),
        "CaseEvents": list_of("CaseEvent", maxItems=100),
        "BulkBody": _bulk_body(),
        "BulkDone": object_of({"cases": COUNT, "changed": COUNT}),
    }


def _bulk_body() -> dict[str, Any]:
    """One form for each action: to assign takes a name, and to resolve an outcome."""
    note = {"type": "string", "maxLength": MAX_COMMENT, "pattern": display_text.NOTE_PATTERN}
    name = {"type": "string", "minLength": 1, "maxLength": MAX_ACTOR, "pattern": display_text.NAME_PATTERN}
    expected = {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_AT_ONCE,
        "description": "The number that `GET /v1/cases/summary` told for this filter",
    }

    def form(actions: list[str], **members: dict[str, Any]) -> dict[str, Any]:
        needed = {"action": {"enum": actions}, "expected": expected, **members}
        return {
            **object_of(needed),
            "properties": {**needed, "comment": nullable(note)},
        }

    return {
        "oneOf": [
            form(["acknowledge", "claim"]),
            form(["assign"], assignee=name),
            form(["resolve"], outcome={"enum": list(OUTCOMES)}),
        ]
    }


def _case(group: dict[str, Any], declared: EventType) -> dict[str, Any]:
    rule_id = schemas.load("values")["$defs"]["id"]
    subject = object_of(
        {
            "field": nullable({"enum": list(declared.groupings)}),
            "value": nullable({"type": "string"}),
            "ruleId": nullable(rule_id),
            "group": nullable(group),
        }
    )
    rules = {"type": "array", "items": object_of({"ruleId": rule_id, "ruleName": {"type": "string"}})}
    return object_of(
        {
            "caseId": CASE_ID,
            "version": VERSION,
            "state": {"enum": list(STATES)},
            "subject": {
                **subject,
                "description": "A field, or party, and its value; of groups without such a one the rule and the group",
            },
            "alertCount": {**COUNT, "description": "Alerts that came while it was the subject's case"},
            "episodeCount": COUNT,
            "rules": {**rules, "description": "All that found the subject, by id"},
            "firstEventTime": TIME,
            "lastEventTime": TIME,
            "openedAt": TIME,
            "changedAt": {**TIME, "description": "When it was opened or reopened, or somebody did something"},
            "severity": {
                "enum": [*SEVERITIES, None],
                "description": "The worst of its rules', as they are now; null where none says one",
            },
            "dueAt": {
                **nullable(DUE),
                "description": "So long after it was opened, or reopened, as its severity may wait: by setting. null "
                "of a resolved case, and of a severity that may wait for ever",
            },
            "acknowledgedBy": nullable(ACTOR),
            "acknowledgedAt": nullable(TIME),
            "assignee": nullable(ACTOR),
            "outcome": OUTCOME,
            "resolvedBy": nullable(ACTOR),
            "resolvedAt": nullable(TIME),
        }
    )


def _episode(group: dict[str, Any]) -> dict[str, Any]:
    values = schemas.load("values")["$defs"]
    peak = object_of(
        {
            "value": values["aggregate"],
            "operator": values["operator"],
            "limit": values["decimal"],
            "eventTime": TIME,
            "alertId": values["uuid"],
        }
    )
    return object_of(
        {
            "episodeId": CASE_ID,
            "ruleId": values["id"],
            "ruleName": {"type": "string"},
            "group": group,
            "firstEventTime": TIME,
            "lastEventTime": TIME,
            "openUntil": {
                "type": "integer",
                "minimum": 0,
                "description": "An alert of an event time up to here belongs to it",
            },
            "alertCount": COUNT,
            "peak": {**nullable(peak), "description": "Furthest beyond the limit; null of a chained rule"},
        }
    )


def _event() -> dict[str, Any]:
    return object_of(
        {
            "version": VERSION,
            "type": {"enum": ["CaseOpened", *WORK_EVENTS]},
            "occurredAt": TIME,
            "actor": {**nullable(ACTOR), "description": "null where an alert opened or reopened it"},
            "comment": nullable(COMMENT),
            "assignee": nullable(ACTOR),
            "outcome": OUTCOME,
        }
    )
