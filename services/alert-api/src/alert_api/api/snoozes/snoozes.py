"""/v1/snoozes: ask for one, decide on it, end it, and look at what it suppressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.cases.origins import KEY_DOC, origin_of
from alert_api.api.snoozes.instants import ms_of
from alert_api.api.snoozes.snooze_json import snooze_json
from alert_api.api.snoozes.snooze_schemas import ApprovalBody, ReasonBody, SnoozeQuery, snooze_body
from alert_api.domain.cases.snooze_commands import (
    ApproveSnooze,
    EndSnooze,
    RejectSnooze,
    RequestSnooze,
    SnoozeCommand,
)
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.service.snoozes.snooze_queries import SnoozeReader
from alert_api.service.snoozes.snooze_work import SnoozeDesk
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.fields import MAX_POSITION
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

LISTING: Final = "snoozes"
PATH: Final = "/v1/snoozes"
ID_PATH: Final = f"{PATH}/<int(min=1, max={MAX_POSITION}):snooze_id>"

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Snoozes:
    """Where snoozes are read, where what people do about them is taken in; the clock gives ms since the epoch."""

    reader: SnoozeReader
    desk: SnoozeDesk
    clock: Callable[[], int]

    def shown(self, snooze_id: int, status: int = 200) -> Response:
        """A snooze with its version as the ETag."""
        stored = self.reader.get(snooze_id)
        response = jsonify(snooze_json(stored, self.clock()))
        response.status_code = status
        response.headers["ETag"] = etag_of(stored.snooze.version)
        return response


# Path, scope, schema of the body, operation, its description, the command that it is.
Action = tuple[str, str, type[ma.Schema], str, str, Callable[[str, int, Body], SnoozeCommand]]
ACTIONS: Final[tuple[Action, ...]] = (
    (
        "approve",
        "rules:approve",
        ApprovalBody,
        "approveSnooze",
        "Let a snooze that was asked for come into force. Not by who asked for it; `contentHash` says what was seen.",
        lambda actor, now, body: ApproveSnooze(
            actor=actor, now=now, reason=body["reason"], content_hash=body["content_hash"]
        ),
    ),
    (
        "reject",
        "rules:approve",
        ReasonBody,
        "rejectSnooze",
        "Refuse a snooze that was asked for. Not by who asked for it: they end it.",
        lambda actor, now, body: RejectSnooze(actor=actor, now=now, reason=body["reason"]),
    ),
    (
        "end",
        "alerts:ack",
        ReasonBody,
        "endSnooze",
        "End a snooze before its time, or take back what was asked for. What it suppressed stays so.",
        lambda actor, now, body: EndSnooze(actor=actor, now=now, reason=body["reason"]),
    ),
)


def snoozes_blueprint(snoozes: Snoozes, event_type: EventType) -> ApiBlueprint:
    """The views."""
    blueprint = new_blueprint("snoozes", __name__, "Alerts kept out of cases for a time")
    _add_request(blueprint, snoozes, event_type)
    _add_readings(blueprint, snoozes)
    for action in ACTIONS:
        _add_action(blueprint, snoozes, action)
    return blueprint


def _add_request(blueprint: ApiBlueprint, snoozes: Snoozes, event_type: EventType) -> None:
    schema = snooze_body(event_type)

    @blueprint.route(PATH, methods=["POST"])
    @blueprint.requires("alerts:ack")
    @blueprint.parameter(KEY_DOC)
    @blueprint.json_body("SnoozeBody")
    @blueprint.or_response(202, _component("Snooze"), headers=ETAG_HEADER_DOC)
    @blueprint.response(201, _component("Snooze"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(400, 413, 415, 422, 503)
    @blueprint.doc(operationId="requestSnooze")
    def request_snooze(sent: Body) -> Response:
        """Snooze alerts of a rule, about a subject, of a group, or what is all of these at once, until an instant

        They are stored and marked, and are in no case; what came before stays as it is. Where a second person has to
        approve it is answered with 202 and is not in force before that, elsewhere with 201.
        """
        body = _loaded(schema(), sent)
        subject = body.get("subject")
        scope = SnoozeScope(
            body.get("rule_id"), subject and (subject["field"], subject["value"]), body.get("group")
        )
        command = RequestSnooze(
            actor=current_actor(),
            now=snoozes.clock(),
            scope=scope,
            until=body["until"],
            expires_at=ms_of(body["until"]) or 0,
            reason=body["reason"],
        )
        snooze_id = snoozes.desk.request(command, origin_of(sent))
        waits = snoozes.reader.get(snooze_id).snooze.request.four_eyes
        return snoozes.shown(snooze_id, 202 if waits else 201)


def _add_readings(blueprint: ApiBlueprint, snoozes: Snoozes) -> None:
    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(SnoozeQuery, location="query")
    @blueprint.response(200, _component("SnoozePage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId="listSnoozes")
    def list_snoozes(query: dict[str, Any]) -> Response:
        """Snoozes, those that were asked for last first."""
        context = {"state": query.get("state")}
        before = None
        if "cursor" in query:
            before = int(decode_cursor(query["cursor"], LISTING, context, (int,))[0])
        now = snoozes.clock()
        page = snoozes.reader.page(query.get("state"), now, before, query["limit"])
        response = jsonify(items=[snooze_json(stored, now) for stored in page.snoozes])
        if page.following is not None:
            response.headers.update(next_link(encode_cursor(LISTING, context, (page.following,))))
        return response

    @blueprint.route(f"{PATH}/summary", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _component("SnoozeCounts"))
    @blueprint.problems(503)
    @blueprint.doc(operationId="countSnoozes")
    def count_snoozes() -> Response:
        """How many snoozes are in force, what they suppressed, and how many wait for a second person."""
        counts = snoozes.reader.counts(snoozes.clock())
        return jsonify(
            fourEyes=snoozes.desk.four_eyes,
            requested=counts.requested,
            inForce=counts.in_force,
            suppressedAlerts=counts.suppressed,
        )

    @blueprint.route(ID_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _component("Snooze"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getSnooze")
    def get_snooze(snooze_id: int) -> Response:
        """One snooze. `GET /v1/alerts?snoozeId=` has the alerts that it suppressed."""
        return snoozes.shown(snooze_id)


def _add_action(blueprint: ApiBlueprint, snoozes: Snoozes, action: Action) -> None:
    path, scope, body_schema, operation, description, make = action

    def act(if_match: IfMatch, body: Body, snooze_id: int) -> Response:
        command = make(current_actor(), snoozes.clock(), body)
        snoozes.desk.step(snooze_id, command, lambda version: _expects(if_match, version), origin_of(body))
        return snoozes.shown(snooze_id)

    act.__name__, act.__doc__ = path, description
    for decorate in (
        blueprint.doc(operationId=operation),
        blueprint.problems(400, 403, 404, 409, 412, 413, 415, 422, 503),
        blueprint.response(200, _component("Snooze"), headers=ETAG_HEADER_DOC),
        blueprint.arguments(body_schema),
        blueprint.parameter(KEY_DOC),
        blueprint.if_match,
        blueprint.requires(scope),
        blueprint.route(f"{ID_PATH}/{path}", methods=["POST"], endpoint=path),
    ):
        act = decorate(act)


def _loaded(schema: ma.Schema, sent: Body) -> Body:
    try:
        body: Body = schema.load(sent)
    except ma.ValidationError as error:
        raise invalid_input([FieldError(*named) for named in _problems(error.messages_dict)]) from error
    return body


def _problems(messages: dict[str, Any], within: str = "") -> list[tuple[str, str]]:
    """The member of each problem, with those that it is in, and the sentence."""
    told = []
    for name, inner in messages.items():
        member = f"{within}{name}"
        if isinstance(inner, dict):
            told += _problems(inner, f"{member}.")
        else:
            told.append((member, "; ".join(map(str, inner))))
    return told


def _expects(if_match: IfMatch, version: int) -> bool:
    return if_match.any_version or str(version) in if_match.tags


def _component(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
