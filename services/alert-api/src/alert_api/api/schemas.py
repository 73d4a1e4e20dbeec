"""Requests as marshmallow schemas, and responses as JSON Schemas made of the contracts'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import marshmallow as ma

from alert_api.domain.cases.case import STATES as CASE_STATES
from tripline_contracts import display_text, schemas
from tripline_contracts.event_type import EventType, Kind, Role
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, QueryInteger, Text

MAX_COMMENT = 2000
MAX_RULES = 100
MAX_ACTOR = 64
STANDINGS = (*CASE_STATES, "unresolved")
STATES = ("open", "acknowledged")
TRUTHS = {"true": True, "false": False}


def group_pattern(declared: EventType) -> str:
    """`field:value`, the field being one that rules can group by, under any of its names."""
    fields = [declared.field(name) for name in declared.groupable]
    parties = [party.name for party in declared.parties]
    names = sorted([*parties, *(name for field in fields for name in field.names)])
    return rf"^({'|'.join(names)}):[^\x00]{{1,64}}$"


def rules_of_query() -> ma.fields.List[int]:
    """`ruleId`, any number of times up to a bound; of none of them all rules are meant."""
    return ma.fields.List(
        QueryInteger(1, MAX_POSITION),
        data_key="ruleId",
        validate=ma.validate.Length(max=MAX_RULES),
        load_default=list,
        metadata={"description": "Repeat it to ask for the alerts of several rules"},
    )


class AcknowledgeBody(ma.Schema):
    """What the actor wants to note with the acknowledgement."""

    class Meta:
        unknown = ma.RAISE

    comment = Text(
        0,
        MAX_COMMENT,
        allow_none=True,
        load_default=None,
        metadata={
            "pattern": display_text.NOTE_PATTERN,
            "description": f"A text {display_text.EXPECTED}; it may have several lines, and joiners where a script or "
            "an emoji needs them",
        },
    )

    @ma.validates("comment")
    def _readable(self, comment: str | None, **_: Any) -> None:
        refused = display_text.refused_character(comment or "", lines=True)
        if refused is not None:
            raise ma.ValidationError(f"expected a text {display_text.EXPECTED}; it has {refused}")


def nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """That, or null."""
    return {"anyOf": [dict(schema), {"type": "null"}]}


TIME: dict[str, Any] = {
    "type": "integer",
    "minimum": 0,
    "maximum": MAX_MS,
    "description": "ms since the epoch",
}
ACTOR: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 64}
COMMENT: dict[str, Any] = {"type": "string", "maxLength": MAX_COMMENT}


def alert_schema(declared: EventType) -> dict[str, Any]:
    """The alert as the engine sent it and, beside that, who has it in hand."""
    received = _standing_alone(schemas.load("alerts.v1", declared), declared)
    added: dict[str, Any] = {
        "state": {"enum": list(STATES)},
        "acknowledgedBy": nullable(ACTOR),
        "acknowledgedAt": nullable(TIME),
        "acknowledgementComment": nullable(COMMENT),
        "voided": {
            "type": "array",
            "items": voiding_schema(),
            "description": "What triggered the alert, or is listed in it, and was voided, by the commands' positions",
        },
        "snoozeId": {
            **nullable({"type": "integer", "minimum": 1, "maximum": MAX_POSITION}),
            "description": "The snooze that covers it: it is in no case then",
        },
        "caseId": {
            **nullable({"type": "integer", "minimum": 1, "maximum": MAX_POSITION}),
            "description": "The case that the alert is in; null of a snoozed one, and before it is folded",
        },
    }
    return {
        **{key: value for key, value in received.items() if not key.startswith("$")},
        "properties": {**received["properties"], **added},
        "required": [*received["required"], *added],
    }


def voiding_schema() -> dict[str, Any]:
    """A voided transaction, with the command that did it and its place in rules.v1."""
    values = schemas.load("values")["$defs"]
    return object_of(
        {
            "transactionId": values["transactionId"],
            "eventTime": TIME,
            "commandId": values["uuid"],
            "position": values["id"],
        }
    )


def trace_schema(declared: EventType) -> dict[str, Any]:
    """A trace as the engine sent it."""
    traced = _standing_alone(schemas.load("rule-traces.v1", declared), declared)
    return {key: value for key, value in traced.items() if not key.startswith("$")}


def _standing_alone(node: Any, declared: EventType) -> Any:
    """The schema with what it refers to in other files put in its place."""
    if isinstance(node, list):
        return [_standing_alone(inner, declared) for inner in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        file, _, pointer = node["$ref"].partition("#/$defs/")
        referred = schemas.load(file.removesuffix(".json"), declared)["$defs"][pointer]
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _standing_alone({**referred, **siblings}, declared)
    return {key: _standing_alone(value, declared) for key, value in node.items()}


def object_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with all of these and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(name: str, **bounds: int) -> dict[str, Any]:
    """A page of what is among the components under that name."""
    items = {"$ref": f"#/components/schemas/{name}"}
    return object_of({"items": {"type": "array", "items": items, **bounds}})


COUNT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": MAX_POSITION}
COUNTS: dict[str, Any] = {"open": COUNT, "acknowledged": COUNT}


def _summary_schema() -> dict[str, Any]:
    rule_id = {"type": "integer", "minimum": 1, "maximum": MAX_POSITION}
    by_rule = object_of({"ruleId": rule_id, "ruleName": {"type": "string"}, **COUNTS})
    by_hour = object_of({"hour": {**TIME, "description": "Its first ms since the epoch, UTC"}, **COUNTS})
    return object_of(
        {
            "from": TIME,
            "to": TIME,
            "countedFrom": {
                **TIME,
                "description": "What happened before was not counted; `from`, where all was",
            },
            "byState": object_of(COUNTS),
            "byRule": {"type": "array", "items": by_rule, "description": "By rule id"},
            "byHour": {"type": "array", "items": by_hour, "description": "By time"},
        }
    )


def _event_type_schema() -> dict[str, Any]:
    text, name = {"type": "string", "minLength": 1}, {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$"}
    names = {"type": "array", "items": name}
    field = object_of(
        {
            "name": name,
            "aliases": names,
            "role": {"enum": list(get_args(Role))},
            "kind": {"enum": list(get_args(Kind))},
            "required": {"type": "boolean"},
            "groupable": {
                "type": "boolean",
                "description": "Rules may group by it, and count its different values",
            },
            "values": {"type": "array", "items": text, "description": "Of an enum, else empty"},
            "maxLength": nullable({"type": "integer", "minimum": 1}),
            "label": {**text, "description": "What people call it"},
            "plural": {**text, "description": "And several of it"},
        }
    )
    return object_of(
        {
            "name": text,
            "version": {"type": "integer", "minimum": 1},
            "noun": {**text, "description": "What people call one transaction"},
            "plural": {**text, "description": "And several of them"},
            "parties": {
                "type": "array",
                "items": object_of(
                    {
                        "name": name,
                        "sides": {"type": "array", "items": object_of({"name": name, "field": name})},
                    }
                ),
                "description": "Names that rules may group by too, with their sides and the sides' fields",
            },
            "anchors": {**names, "description": "Fields that rules run by, in order; global is the last one"},
            "fields": {"type": "array", "items": field, "description": "In the declared order"},
        }
    )


def components(declared: EventType) -> dict[str, dict[str, Any]]:
    """The answers' schemas by their names in the OpenAPI document."""
    event = object_of(
        {
            "version": {"type": "integer", "minimum": 1, "maximum": MAX_ID},
            "type": {"enum": ["AlertRaised", "AlertAcknowledged", "AlertVoided"]},
            "occurredAt": TIME,
            "actor": nullable(ACTOR),
            "comment": nullable(COMMENT),
            "voided": nullable(voiding_schema()),
        }
    )
    return {
        "Alert": alert_schema(declared),
        "AlertPage": list_of("Alert", maxItems=100),
        "AlertEvent": event,
        "AlertEvents": list_of("AlertEvent", minItems=1),
        "AlertSummary": _summary_schema(),
        "Trace": trace_schema(declared),
        "EventType": _event_type_schema(),
        "TracePage": list_of("Trace", maxItems=100),
    }
