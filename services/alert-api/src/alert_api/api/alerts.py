"""/v1/alerts: list, look at, acknowledge, and what happened to each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

import marshmallow as ma
from flask import Response, jsonify, request

from alert_api.api.alert_filters import AlertQuery, alert_filter, of_type
from alert_api.api.schemas import AcknowledgeBody
from alert_api.domain.events import AlertAcknowledged, AlertEvent, AlertId, AlertRaised, AlertVoided, Voiding
from alert_api.errors import AlertNotFound
from alert_api.service.acknowledgement import LifecycleStore, acknowledge
from alert_api.service.alert_queries import AlertReader, Place, StoredAlert
from alert_api.service.verifications import VerificationLog
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.json_bodies import read_json
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

LISTING = "alerts"
ID_PATH = "/v1/alerts/<uuid:alert_id>"

BODY_DOC: dict[str, Any] = {
    "required": False,
    "description": "May be left out",
    "content": {"application/json": {"schema": AcknowledgeBody}},
}
IDEMPOTENCY_DOC: dict[str, Any] = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "Accepted and not needed: the same actor's repetition changes nothing anyway",
    "schema": {"type": "string"},
}


class Alerts(AlertReader, LifecycleStore, VerificationLog, Protocol):
    """The ports of these views."""


def alerts_blueprint(alerts: Alerts, clock: Callable[[], int], event_type: EventType) -> ApiBlueprint:
    """The views over `alerts`; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("alerts", __name__, "What tripped, and who takes care of it")
    _add_listing(blueprint, alerts, event_type)
    _add_readings(blueprint, alerts)
    _add_acknowledging(blueprint, alerts, clock)
    return blueprint


def _add_listing(blueprint: ApiBlueprint, alerts: Alerts, event_type: EventType) -> None:
    @blueprint.route("/v1/alerts", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(of_type(AlertQuery, event_type), location="query")
    @blueprint.response(200, _schema("AlertPage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId="listAlerts")
    def list_alerts(query: dict[str, Any]) -> Response:
        """The newest alerts by event time, filtered; of equal times by alert id

        All filters given hold. A page may have fewer alerts than `limit`, or none, and a next one all the same: where
        alerts that fit are rare, so many are looked at for one page and no more.
        """
        context = {name: query.get(name) for name in sorted(query.keys() - {"cursor", "limit"})}
        after = _place(query["cursor"], context) if "cursor" in query else None
        page = alerts.page(alert_filter(query, event_type), after, query["limit"])
        response = json_answer(f'{{"items":[{",".join(map(alert_text, page.alerts))}]}}')
        if page.following is not None:
            keys = (page.following.event_time, page.following.alert_id)
            response.headers.update(next_link(encode_cursor(LISTING, context, keys)))
        return response


def _add_readings(blueprint: ApiBlueprint, alerts: Alerts) -> None:
    @blueprint.route(ID_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _schema("Alert"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getAlert")
    def get_alert(alert_id: UUID) -> Response:
        """One alert."""
        return json_answer(alert_text(alerts.get(AlertId(str(alert_id)))))

    @blueprint.route(f"{ID_PATH}/events", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _schema("AlertEvents"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getAlertEvents")
    def get_alert_events(alert_id: UUID) -> Response:
        """What happened to an alert, oldest first."""
        events = alerts.events_of(AlertId(str(alert_id)))
        if not events:
            raise AlertNotFound(str(alert_id))
        return jsonify(items=[event_json(version, event) for version, event in enumerate(events, start=1)])


def _add_acknowledging(blueprint: ApiBlueprint, alerts: Alerts, clock: Callable[[], int]) -> None:
    @blueprint.route(f"{ID_PATH}/acknowledge", methods=["POST"])
    @blueprint.requires("alerts:ack")
    @blueprint.parameter(IDEMPOTENCY_DOC)
    @blueprint.doc(operationId="acknowledgeAlert", requestBody=BODY_DOC)
    @blueprint.response(200, _schema("Alert"))
    @blueprint.problems(400, 404, 409, 413, 415, 422, 503)
    def acknowledge_alert(alert_id: UUID) -> Response:
        """Take an alert in hand. By the same actor again: unchanged; by another: 409 naming who was first."""
        identifier = AlertId(str(alert_id))
        acknowledge(alerts, identifier, current_actor(), _read_comment(), clock)
        return jsonify(alert_json(alerts.get(identifier)))


def _schema(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _place(cursor: str, context: Mapping[str, object]) -> Place:
    event_time, alert_id = decode_cursor(cursor, LISTING, context, (int, str))
    try:
        return Place(int(event_time), AlertId(str(UUID(str(alert_id)))))
    except ValueError as error:
        raise ProblemError(400, "invalid-cursor", "This cursor is not one of this listing.") from error


def _read_comment() -> str | None:
    """The body's comment; None for no body, no comment or a blank one."""
    if not request.get_data(cache=True):
        return None
    try:
        comment: str | None = AcknowledgeBody().load(read_json(request))["comment"]
    except ma.ValidationError as error:
        messages = error.messages_dict
        raise invalid_input(
            [
                FieldError("body" if name == "_schema" else str(name), "; ".join(map(str, texts)))
                for name, texts in messages.items()
            ]
        ) from error
    return comment if comment and comment.strip() else None


def alert_json(alert: StoredAlert) -> dict[str, Any]:
    """An alert as callers see it: as it came, who has it in hand, what it rests on that was voided, and the snooze."""
    return {**alert.content, **_beside(alert)}


def alert_text(alert: StoredAlert) -> str:
    """The same as text: what came is not read and written again, which takes longer than all else of a page."""
    return f"{alert.text.rstrip()[:-1]},{json.dumps(_beside(alert), separators=(',', ':'))[1:]}"


def json_answer(text: str) -> Response:
    """An answer that is written already."""
    return Response(text, mimetype="application/json")


def _beside(alert: StoredAlert) -> dict[str, Any]:
    """What is known of an alert that did not come with it."""
    return {
        "state": alert.state,
        "acknowledgedBy": alert.acknowledged_by,
        "acknowledgedAt": alert.acknowledged_at,
        "acknowledgementComment": alert.acknowledgement_comment,
        "voided": [voiding_json(voiding) for voiding in alert.voided],
        "snoozeId": alert.snooze_id,
        "caseId": alert.case_id,
    }


def voiding_json(voiding: Voiding) -> dict[str, Any]:
    """A voided transaction, with the command that did it and its place in rules.v1."""
    return {
        "transactionId": voiding.transaction_id,
        "eventTime": voiding.event_time,
        "commandId": voiding.command_id,
        "position": voiding.position,
    }


def event_json(version: int, event: AlertEvent) -> dict[str, Any]:
    """One thing that happened, as callers see it."""
    return {
        "version": version,
        "type": type(event).__name__,
        "occurredAt": event.occurred_at,
        "actor": None if isinstance(event, AlertRaised) else event.actor,
        "comment": event.comment if isinstance(event, AlertAcknowledged) else None,
        "voided": voiding_json(event.voiding) if isinstance(event, AlertVoided) else None,
    }
