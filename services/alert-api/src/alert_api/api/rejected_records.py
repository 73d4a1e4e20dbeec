"""/v1/rejected-records: what the engine did not accept, and what becomes of it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify, request

from alert_api.api.rejected_schemas import RECORD_ID, DiscardBody, RejectedQuery, SendAgainBody
from alert_api.domain.rejected_records import RecordPlace
from alert_api.errors import RejectedRecordNotFound
from alert_api.service.rejected.desk import (
    MAX_VALUE_BYTES,
    AfterRecord,
    RejectedDesk,
    RejectedFilter,
    RejectedRecord,
)
from tripline_http.auth import current_actor
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.json_bodies import read_json
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

LISTING: Final = "rejected-records"
PATH: Final = "/v1/rejected-records"
ID_PATH: Final = f"{PATH}/<record_id>"
ID_DOC: Final[dict[str, Any]] = {
    "in": "path",
    "name": "record_id",
    "required": True,
    "schema": RECORD_ID,
}
MAX_BODY_BYTES: Final = 4 * MAX_VALUE_BYTES
"""JSON in a JSON text: each quote and each backslash is two characters."""


def rejected_records_blueprint(desk: RejectedDesk) -> ApiBlueprint:
    """The views."""
    blueprint = new_blueprint("rejected records", __name__, "What the engine did not accept")
    _add_readings(blueprint, desk)
    _add_decisions(blueprint, desk)
    return blueprint


def _add_readings(blueprint: ApiBlueprint, desk: RejectedDesk) -> None:
    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(RejectedQuery, location="query")
    @blueprint.response(200, _schema("RejectedRecordPage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId="listRejectedRecords")
    def list_rejected(query: dict[str, Any]) -> Response:
        """The newest rejected records, filtered, without their values."""
        context = {name: query.get(name) for name in sorted(query.keys() - {"cursor", "limit"})}
        after = _after(query["cursor"], context) if "cursor" in query else None
        wanted = RejectedFilter(
            query.get("cause"), query.get("state"), query.get("earliest"), query.get("latest")
        )
        page = desk.records.page(wanted, after, query["limit"])
        response = jsonify(items=[listed_json(record) for record in page.records])
        if page.following is not None:
            last = page.following
            keys = (last.rejected_at, last.place.partition, last.place.offset)
            response.headers.update(next_link(encode_cursor(LISTING, context, keys)))
        return response

    @blueprint.route(f"{PATH}/counts", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _schema("RejectedRecordCounts"))
    @blueprint.problems(503)
    @blueprint.doc(operationId="countRejectedRecords")
    def count_rejected() -> Response:
        """How many there are, by reason and state."""
        return jsonify(
            items=[
                {"reason": counted.cause, "state": counted.state, "count": counted.count,
                 "first": counted.first, "last": counted.last}
                for counted in desk.records.counts()
            ]
        )  # fmt: skip

    @blueprint.route(ID_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _schema("RejectedRecord"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getRejectedRecord", parameters=[ID_DOC])
    def get_rejected(record_id: str) -> Response:
        """One rejected record, with its bytes."""
        return jsonify(record_json(desk.get(_place(record_id))))


def _add_decisions(blueprint: ApiBlueprint, desk: RejectedDesk) -> None:
    @blueprint.route(f"{ID_PATH}/send-again", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.doc(
        operationId="sendRejectedRecordAgain", parameters=[ID_DOC], requestBody=_body_doc(SendAgainBody)
    )
    @blueprint.response(200, _schema("RejectedRecord"))
    @blueprint.problems(400, 404, 409, 413, 415, 422, 503)
    def send_again(record_id: str) -> Response:
        """Send it again, corrected or as it came

        Once: by the same actor with the same value again nothing changes, by another 409 says who was first. It is
        queued, and sent when the broker has confirmed it. If what was sent is not accepted either, that is another
        rejected record, which names this one as what it corrects.
        """
        request.max_content_length = MAX_BODY_BYTES
        body = _read(SendAgainBody())
        record = desk.send_again(
            _place(record_id), current_actor(), body["reason"], body["value"], body["backfill_id"]
        )
        return jsonify(record_json(record))

    @blueprint.route(f"{ID_PATH}/discard", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.doc(
        operationId="discardRejectedRecord", parameters=[ID_DOC], requestBody=_body_doc(DiscardBody)
    )
    @blueprint.response(200, _schema("RejectedRecord"))
    @blueprint.problems(400, 404, 409, 413, 415, 422, 503)
    def discard(record_id: str) -> Response:
        """Leave it as it is, with a reason. Once, as with sending it again."""
        body = _read(DiscardBody())
        return jsonify(record_json(desk.discard(_place(record_id), current_actor(), body["reason"])))


def _schema(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _body_doc(schema: type[ma.Schema]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _place(record_id: str) -> RecordPlace:
    record_place = RecordPlace.parse(record_id)
    # Of what can be no place there is no record.
    if record_place is None or record_place.partition >= 2**31:
        raise RejectedRecordNotFound(record_id)
    return record_place


def _after(cursor: str, context: Mapping[str, object]) -> AfterRecord:
    rejected_at, partition, offset = decode_cursor(cursor, LISTING, context, (int, int, int))
    return AfterRecord(int(rejected_at), RecordPlace(int(partition), int(offset)))


def _read(schema: ma.Schema) -> dict[str, Any]:
    try:
        body: dict[str, Any] = schema.load(read_json(request))
    except ma.ValidationError as error:
        raise invalid_input(
            [
                FieldError("body" if name == "_schema" else str(name), "; ".join(map(str, texts)))
                for name, texts in error.messages_dict.items()
            ]
        ) from error
    return body


def listed_json(record: RejectedRecord) -> dict[str, Any]:
    """A record as it is listed."""
    decision, delivery = record.decision, record.delivery
    return {
        "id": str(record.place),
        "reason": record.cause,
        "detail": record.detail,
        "length": record.length,
        "sha256": record.sha256,
        "rejectedAt": record.rejected_at,
        "state": record.state,
        "decision": decision
        and {
            "kind": decision.kind,
            "actor": decision.actor,
            "reason": decision.reason,
            "decidedAt": decision.decided_at,
            "backfillId": decision.backfill,
        },
        "sentTo": delivery
        and {
            "partition": delivery.place.partition,
            "offset": delivery.place.offset,
            "sentAt": delivery.delivered_at,
        },
        "corrects": None if record.corrects is None else str(record.corrects),
    }


def record_json(record: RejectedRecord) -> dict[str, Any]:
    """A record with its bytes."""
    sent = record.decision.value if record.decision else None
    return {
        **listed_json(record),
        "valueBase64": None if record.value is None else base64.b64encode(record.value).decode("ascii"),
        "text": _text(record.value),
        "isWhole": len(record.value or b"") == record.length,
        "sentText": _text(sent),
    }


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return None
