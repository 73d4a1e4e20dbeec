"""Rejected records: requests as marshmallow schemas, answers as JSON Schemas."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma

from alert_api.api.schemas import ACTOR, COUNT, MAX_COMMENT, TIME, list_of, nullable, object_of
from alert_api.domain.rejected_records import ID_PATTERN
from alert_api.service.rejected.desk import MAX_VALUE_BYTES
from tripline_contracts import display_text, schemas
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, QueryInteger, Text

STATES: Final = ("open", "queued", "sent", "discarded")
CAUSES: Final[tuple[str, ...]] = tuple(
    schemas.load("rejected-transactions.v1")["properties"]["headers"]["properties"]["reason"]["enum"]
)
UUID_PATTERN: Final[str] = schemas.load("values")["$defs"]["uuid"]["pattern"]


class RejectedQuery(ma.Schema):
    """Filters and page of the list."""

    cause = ma.fields.String(
        data_key="reason",
        validate=ma.validate.OneOf(CAUSES),
        metadata={"description": "Why the engine did not accept it"},
    )
    state = ma.fields.String(validate=ma.validate.OneOf(STATES))
    earliest = QueryInteger(
        0, MAX_MS, data_key="from", metadata={"description": "Rejected at, in ms, this one included"}
    )
    latest = QueryInteger(
        0, MAX_MS, data_key="to", metadata={"description": "Rejected at, in ms, this one included"}
    )
    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


class DiscardBody(ma.Schema):
    """Why it stays as it is."""

    class Meta:
        unknown = ma.RAISE

    reason = Text(
        1,
        MAX_COMMENT,
        required=True,
        metadata={
            "pattern": display_text.NOTE_PATTERN,
            "description": f"For those who read it later: a text {display_text.EXPECTED}",
        },
    )

    @ma.validates("reason")
    def _readable(self, reason: str, **_: Any) -> None:
        refused = display_text.refused_character(reason, lines=True)
        if refused is not None:
            raise ma.ValidationError(f"expected a text {display_text.EXPECTED}; it has {refused}")


class SendAgainBody(DiscardBody):
    """What is sent in the record's stead, and why."""

    value = Text(
        1,
        MAX_VALUE_BYTES,
        allow_none=True,
        load_default=None,
        metadata={
            "description": "The transaction as JSON text, which is sent byte by byte as it is here; left out, the "
            "record is sent as it came",
            "example": '{"transactionId": "t-1"}',
        },
    )
    backfill_id = Text(
        36,
        36,
        pattern=UUID_PATTERN,
        data_key="backfillId",
        allow_none=True,
        load_default=None,
        metadata={
            "description": "The commandId of a START_BACKFILL that stands: it is taken whatever its age, and "
            "triggers nothing"
        },
    )


RECORD_ID: dict[str, Any] = {
    "type": "string",
    "pattern": f"^{ID_PATTERN}$",
    "description": "Its place in transactions.v1: partition-offset",
}


def rejected_components() -> dict[str, dict[str, Any]]:
    """The answers' schemas by their names in the OpenAPI document."""
    decision = object_of(
        {
            "kind": {"enum": ["sendAgain", "discard"]},
            "actor": ACTOR,
            "reason": {"type": "string", "minLength": 1, "maxLength": MAX_COMMENT},
            "decidedAt": TIME,
            "backfillId": nullable({"type": "string", "pattern": UUID_PATTERN}),
        }
    )
    delivery = object_of(
        {
            "partition": {"type": "integer", "minimum": 0, "maximum": MAX_ID},
            "offset": {"type": "integer", "minimum": 0, "maximum": MAX_POSITION},
            "sentAt": TIME,
        }
    )
    listed = {
        "id": RECORD_ID,
        "reason": {"type": "string", "minLength": 1, "description": "Why the engine did not accept it"},
        "detail": {"type": "string"},
        "length": {**COUNT, "description": "Of the whole value, in bytes"},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Of the whole value"},
        "rejectedAt": TIME,
        "state": {"enum": list(STATES)},
        "decision": nullable(decision),
        "sentTo": nullable(delivery),
        "corrects": {
            **nullable(RECORD_ID),
            "description": "The rejected record that this one was sent to correct",
        },
    }
    text = {"type": "string"}
    whole = {
        **listed,
        "valueBase64": {
            **nullable({**text, "contentEncoding": "base64"}),
            "description": "Null if the record had no value",
        },
        "text": {**nullable(text), "description": "The same where it is UTF-8"},
        "isWhole": {"type": "boolean", "description": "False where only the beginning of the value is here"},
        "sentText": {**nullable(text), "description": "What was sent in its stead"},
    }
    count = object_of(
        {
            "reason": {"type": "string", "minLength": 1},
            "state": {"enum": list(STATES)},
            "count": COUNT,
            "first": TIME,
            "last": TIME,
        }
    )
    return {
        "RejectedRecordListed": object_of(listed),
        "RejectedRecord": object_of(whole),
        "RejectedRecordPage": list_of("RejectedRecordListed", maxItems=100),
        "RejectedRecordCount": count,
        "RejectedRecordCounts": list_of("RejectedRecordCount"),
    }
