"""Snoozes: requests as marshmallow schemas and JSON Schemas, answers as JSON Schemas."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma

from alert_api.api.schemas import ACTOR, COUNT, MAX_COMMENT, TIME, list_of, nullable, object_of
from alert_api.api.snoozes.instants import EXPECTED, PATTERN, ms_of
from alert_api.domain.cases.snooze import SNOOZE_STATES
from tripline_contracts import display_text
from tripline_contracts.event_type import EventType
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_POSITION, BoundedInteger, QueryInteger, Text

MAX_VALUE: Final = 64
HASH_PATTERN: Final = "^[0-9a-f]{64}$"
VALUE: Final[dict[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_VALUE,
    "pattern": r"^[^\x00]*$",
}
ID: Final[dict[str, Any]] = {"type": "integer", "minimum": 1, "maximum": MAX_POSITION}
INSTANT: Final[dict[str, Any]] = {"type": "string", "format": "date-time", "pattern": PATTERN}


class SnoozeQuery(ma.Schema):
    """A page of snoozes."""

    state = ma.fields.String(
        validate=ma.validate.OneOf(SNOOZE_STATES),
        metadata={"description": "By the clock of now: expired is what nobody ended before its time"},
    )
    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


def _reason() -> Text:
    return Text(
        1,
        MAX_COMMENT,
        required=True,
        metadata={
            "pattern": display_text.NOTE_PATTERN,
            "description": f"For those who read it later: a text {display_text.EXPECTED}",
        },
    )


class ReasonBody(ma.Schema):
    """Why."""

    class Meta:
        unknown = ma.RAISE

    reason = _reason()

    @ma.validates("reason")
    def _readable(self, reason: str, **_: Any) -> None:
        refused = display_text.refused_character(reason, lines=True)
        if refused is not None:
            raise ma.ValidationError(f"expected a text {display_text.EXPECTED}; it has {refused}")


class ApprovalBody(ReasonBody):
    """What the approver has seen, and why they approve it."""

    content_hash = ma.fields.String(
        required=True,
        data_key="contentHash",
        validate=ma.validate.Regexp(HASH_PATTERN),
        metadata={"description": "Of the snooze as it was read"},
    )


class _SubjectBody(ma.Schema):
    class Meta:
        unknown = ma.RAISE

    value = Text(1, MAX_VALUE, required=True)


class SnoozeBody(ReasonBody):
    """What to snooze, and until when; `snooze_body` adds what the event type decides."""

    rule_id = BoundedInteger(1, MAX_POSITION, data_key="ruleId")
    until = ma.fields.String(required=True)

    @ma.validates("until")
    def _instant(self, until: str, **_: Any) -> None:
        if ms_of(until) is None:
            raise ma.ValidationError(EXPECTED)

    @ma.validates_schema(skip_on_field_errors=True)
    def _of_something(self, body: dict[str, Any], **_: Any) -> None:
        if not {"rule_id", "subject", "group"} & body.keys():
            raise ma.ValidationError("expected ruleId, subject or group, or several of them", "body")


def snooze_body(declared: EventType) -> type[ma.Schema]:
    """The body of a request, with the fields of this event type."""
    fields = ma.validate.OneOf(declared.groupings)
    subject = _SubjectBody.from_dict({"field": ma.fields.String(required=True, validate=fields)})
    group = ma.fields.Dict(
        keys=ma.fields.String(validate=ma.validate.OneOf(declared.groupings)),
        values=Text(1, MAX_VALUE),
        validate=ma.validate.Length(min=1, error="expected one field or several"),
    )
    return SnoozeBody.from_dict({"subject": ma.fields.Nested(subject), "group": group})


def components(declared: EventType) -> dict[str, dict[str, Any]]:
    """The schemas by their names in the OpenAPI document."""
    counts = {
        "fourEyes": {"type": "boolean", "description": "Whether a second person has to approve a snooze"},
        "requested": {**COUNT, "description": "That wait for a second person"},
        "inForce": COUNT,
        "suppressedAlerts": {**COUNT, "description": "By those that are in force"},
    }
    return {
        "SnoozeBody": _body_schema(declared),
        "Snooze": _snooze_schema(declared),
        "SnoozePage": list_of("Snooze", maxItems=100),
        "SnoozeCounts": object_of(counts),
    }


def _subject_schema(declared: EventType) -> dict[str, Any]:
    return object_of({"field": {"enum": list(declared.groupings)}, "value": VALUE})


def _group_schema(declared: EventType) -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": {"enum": list(declared.groupings)},
        "additionalProperties": VALUE,
        "minProperties": 1,
    }


def _body_schema(declared: EventType) -> dict[str, Any]:
    members: dict[str, Any] = {
        "ruleId": ID,
        "subject": {**_subject_schema(declared), "description": "Whom, or what, cases are about"},
        "group": {
            **_group_schema(declared),
            "description": "The whole group of an alert: one with more fields is another group",
        },
        "until": {**INSTANT, "description": "Alerts that are detected before it are snoozed"},
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_COMMENT,
            "pattern": display_text.NOTE_PATTERN,
        },
    }
    needed = {**object_of(members), "required": ["until", "reason"]}
    return {**needed, "anyOf": [{"required": [name]} for name in ("ruleId", "subject", "group")]}


def _snooze_schema(declared: EventType) -> dict[str, Any]:
    step: dict[str, Any] = {"actor": ACTOR, "occurredAt": TIME, "reason": {"type": "string"}}
    return object_of(
        {
            "snoozeId": ID,
            "version": {"type": "integer", "minimum": 1, "maximum": 3},
            "state": {"enum": list(SNOOZE_STATES)},
            "ruleId": nullable(ID),
            "ruleName": nullable({"type": "string"}),
            "subject": nullable(_subject_schema(declared)),
            "group": nullable(_group_schema(declared)),
            "until": {**INSTANT, "description": "As it was asked for"},
            "expiresAt": {**TIME, "description": "The same in ms since the epoch"},
            "reason": {"type": "string"},
            "fourEyes": {"type": "boolean", "description": "A second person had to approve it"},
            "contentHash": {
                "type": "string",
                "pattern": HASH_PATTERN,
                "description": "Of what is snoozed, until when and why: an approval names it",
            },
            "requestedBy": ACTOR,
            "requestedAt": TIME,
            "decision": nullable(object_of({"type": {"enum": ["approved", "rejected"]}, **step})),
            "ended": nullable(object_of(step)),
            "alertCount": {**COUNT, "description": "Alerts that it suppressed"},
            "firstEventTime": nullable(TIME),
            "lastEventTime": nullable(TIME),
        }
    )
