"""/v1/event-type: what this installation judges."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify

from tripline_contracts.event_type import EventType, Field
from tripline_http.openapi import ApiBlueprint, new_blueprint


def event_type_blueprint(event_type: EventType) -> ApiBlueprint:
    """The view."""
    blueprint = new_blueprint("event_type", __name__, "What this installation judges")

    @blueprint.route("/v1/event-type", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, {"$ref": "#/components/schemas/EventType"})
    @blueprint.doc(operationId="getEventType")
    def get_event_type() -> Response:
        """The declared fields of a transaction, and what people call them."""
        return jsonify(event_type_json(event_type))

    return blueprint


def event_type_json(event_type: EventType) -> dict[str, Any]:
    """The event type as callers see it."""
    return {
        "name": event_type.name,
        "version": event_type.version,
        "noun": event_type.noun,
        "plural": event_type.plural,
        "anchors": list(event_type.anchors),
        "parties": [
            {
                "name": party.name,
                "sides": [{"name": side.name, "field": side.field} for side in party.sides],
            }
            for party in event_type.parties
        ],
        "fields": [_field_json(field) for field in event_type.fields],
    }


def _field_json(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "aliases": list(field.aliases),
        "role": field.role,
        "kind": field.kind,
        "required": field.required,
        "groupable": field.groupable,
        "values": list(field.values),
        "maxLength": field.max_length,
        "label": field.label,
        "plural": field.plural,
    }
