"""Webhooks: requests as marshmallow schemas, answers as JSON Schemas."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma

from alert_api.api.cases.case_schemas import subject_field
from alert_api.api.schemas import ACTOR, COUNT, MAX_RULES, TIME, list_of, nullable, object_of
from alert_api.domain.cases.severity import SEVERITIES
from alert_api.domain.notifications.case_notice import NOTICE_TYPES
from alert_api.domain.webhooks.message import PING
from alert_api.domain.webhooks.signature import PREFIX
from alert_api.domain.webhooks.webhook import MOST_DEAD, STEP_TYPES, TEMPLATES
from tripline_contracts.event_type import EventType
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger, Text

HASH_PATTERN: Final = "^[0-9a-f]{64}$"
NAME_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$"
WRITTEN_KEY: Final = (
    "^whsec_([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$"
)
MOST_SUBJECTS: Final = 100
MOST_FORMER_SECONDS: Final = 30 * 86_400
DELIVERY_STATES: Final = ("retrying", "delivered", "dead")
ID: Final[dict[str, Any]] = {"type": "integer", "minimum": 1, "maximum": MAX_POSITION}
POSITION: Final[dict[str, Any]] = {"type": "integer", "minimum": 0, "maximum": MAX_POSITION}
TYPES: Final[dict[str, Any]] = {"type": "array", "items": {"enum": list(NOTICE_TYPES)}}


class _Body(ma.Schema):
    class Meta:
        unknown = ma.RAISE


class WebhookBody(_Body):
    """A target to be told."""

    name = Text(1, 64, pattern=NAME_PATTERN, required=True)
    url = Text(1, 2000, required=True, metadata={"description": "Of a host that the installation allows"})
    template = ma.fields.String(load_default="cloudevents", validate=ma.validate.OneOf(TEMPLATES))
    types = ma.fields.List(
        ma.fields.String(validate=ma.validate.OneOf(NOTICE_TYPES)),
        load_default=NOTICE_TYPES,
        data_key="eventTypes",
        validate=ma.validate.Length(min=1, max=len(NOTICE_TYPES)),
        metadata={"description": "All, where it is left out"},
    )
    min_severity = ma.fields.String(
        load_default=None,
        allow_none=True,
        data_key="minSeverity",
        validate=ma.validate.OneOf(SEVERITIES),
        metadata={"description": "Of cases that are at least so severe, by the worst of their rules"},
    )
    rule_ids = ma.fields.List(
        BoundedInteger(1, MAX_POSITION),
        load_default=list,
        data_key="ruleIds",
        validate=ma.validate.Length(max=MAX_RULES),
        metadata={"description": "Of cases that one of these rules found; of all, where there is none"},
    )
    secret = Text(
        38,
        90,
        pattern=WRITTEN_KEY,
        metadata={
            "description": f"{PREFIX} and base64 of 24 to 63 bytes. Where it is left out a new webhook gets one, and a "
            "changed one keeps its own"
        },
    )


def webhook_body(declared: EventType) -> type[ma.Schema]:
    """A target to be told, of cases about what this event type has."""
    subjects = ma.fields.List(
        subject_field(declared),
        load_default=list,
        validate=ma.validate.Length(max=MOST_SUBJECTS),
        metadata={"description": "Of cases about one of these; about whatever, where there is none"},
    )
    return WebhookBody.from_dict({"subjects": subjects}, name="WebhookBody")


class WebhookRotation(_Body):
    """For how long the secret of before is good."""

    former_seconds = BoundedInteger(
        0,
        MOST_FORMER_SECONDS,
        load_default=86_400,
        data_key="formerSeconds",
        metadata={
            "description": "Messages are signed with both secrets for so long; 0: with the new one alone"
        },
    )


class WebhookApproval(_Body):
    """What the approver has seen."""

    content_hash = ma.fields.String(
        required=True, data_key="contentHash", validate=ma.validate.Regexp(HASH_PATTERN)
    )


class ReplayBody(_Body):
    """From where: one of both, as `WebhookReplay` has it, which no schema of marshmallow can say."""

    after = BoundedInteger(0, MAX_POSITION, data_key="afterPosition")
    instant = BoundedInteger(0, MAX_MS, data_key="from")

    @ma.validates_schema(skip_on_field_errors=True)
    def _one_of_both(self, body: dict[str, Any], **_: Any) -> None:
        if len(body) != 1:
            raise ma.ValidationError("expected either afterPosition or from", "body")


class DeliveryQuery(ma.Schema):
    """A page of deliveries."""

    state = ma.fields.String(validate=ma.validate.OneOf(DELIVERY_STATES))
    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


class StepQuery(ma.Schema):
    """A page of what people did."""

    webhook_id = QueryInteger(1, MAX_POSITION, data_key="webhookId")
    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


def webhook_components() -> dict[str, dict[str, Any]]:
    """The schemas by their names in the OpenAPI document."""
    webhook = _webhook()
    delivery = {
        "eventId": {"type": "string"},
        "type": {"enum": [*NOTICE_TYPES, PING]},
        "position": POSITION,
        "state": {"enum": list(DELIVERY_STATES)},
        "attempts": COUNT,
        "status": nullable({"type": "integer"}),
        "error": nullable({"type": "string"}),
        "changedAt": TIME,
    }
    step = {
        "stepId": ID,
        "webhookId": ID,
        "type": {"enum": list(STEP_TYPES)},
        "actor": ACTOR,
        "occurredAt": TIME,
        "version": {"type": "integer", "minimum": 1},
        "detail": {"type": "object", "description": "What was asked for, or from where it was replayed"},
    }
    secret = {"type": "string", "description": "Shown this once"}
    replay = {
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {
            "afterPosition": {**POSITION, "description": "From behind this position of the log"},
            "from": {**TIME, "description": "From this instant on, in ms since the epoch"},
        },
    }
    return {
        "WebhookReplay": replay,
        "Webhook": object_of(webhook),
        "NewWebhook": object_of({**webhook, "secret": secret}),
        "WebhookList": list_of("Webhook"),
        "WebhookDelivery": object_of(delivery),
        "WebhookDeliveryPage": list_of("WebhookDelivery"),
        "WebhookStep": object_of(step),
        "WebhookHistory": list_of("WebhookStep"),
    }


def _webhook() -> dict[str, Any]:
    return {
        "webhookId": ID,
        "name": {"type": "string"},
        "url": {"type": "string", "description": "Its host alone, for whom neither commands nor approves"},
        "template": {"enum": list(TEMPLATES)},
        "eventTypes": TYPES,
        "minSeverity": {"enum": [*SEVERITIES, None]},
        "ruleIds": {"type": "array", "items": ID},
        "subjects": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Each field:value, as filters of cases have it",
        },
        "state": {
            "enum": ["requested", "active", "paused"],
            "description": "requested: it, or its last change, waits for a second person. Nothing is lost meanwhile",
        },
        "version": {"type": "integer", "minimum": 1, "description": "Of what it is, and its ETag"},
        "contentHash": {"type": "string", "pattern": HASH_PATTERN},
        "requestedBy": ACTOR,
        "requestedAt": TIME,
        "approvedBy": nullable(ACTOR),
        "approvedAt": nullable(TIME),
        "pausedBy": nullable(ACTOR),
        "pausedAt": nullable(TIME),
        "position": {
            **POSITION,
            "description": "Of the log: up to here it was told, or there was nothing for it",
        },
        "formerSecretUntil": {
            **nullable(TIME),
            "description": "Until then it signs with its former secret too; null: it had none that was to hold on",
        },
        "deadCount": {
            **COUNT,
            "maximum": MOST_DEAD,
            "description": f"Dead letters, tests apart; {MOST_DEAD}: or more",
        },
        "lastDelivery": nullable({"$ref": "#/components/schemas/WebhookDelivery"}),
    }
