"""The JSON of changes, and the answer of a request that made one."""

from __future__ import annotations

from typing import Any

from rules_registry.api.review.change_schemas import ChangeSchema
from rules_registry.domain.review.change_request import LONG, ChangeRequest
from rules_registry.service.ports import Answer
from tripline_http.etags import ETAG_HEADER_DOC, etag_of

CHANGES = "/v1/changes"
LOCATION_DOC = {"Location": {"description": "Address of the change", "schema": {"type": "string"}}}
ACCEPTED: Any = {"status_code": 202, "schema": ChangeSchema, "headers": {**ETAG_HEADER_DOC, **LOCATION_DOC}}
"""What a request answers where a second person has to approve what it asks for."""


def change_json(change: ChangeRequest, *, whole: bool = True) -> dict[str, Any]:
    """A change; with `whole` false without the texts of a list."""
    content = change.content
    is_rule = content.subject.kind == "rule"
    return {
        "changeId": change.change_id,
        "revision": change.revision,
        "state": change.state,
        "kind": content.kind,
        "subject": content.subject.to_json(),
        "ruleId": int(content.subject.id) if is_rule and content.subject.id else None,
        "content": dict(content.members) if whole or content.kind not in LONG else None,
        "contentHash": content.hash,
        "author": change.editors[0],
        "editors": list(change.editors),
        "createdAt": change.created_at,
        "changedAt": change.changed_at,
        "breakGlass": change.break_glass,
        "awaitsReview": change.awaits_review,
        "decidedBy": change.decided_by,
        "decidedAt": change.decided_at,
        "position": change.position,
        "reason": change.reason,
    }


def accepted(change: ChangeRequest) -> Answer:
    """202: nothing has happened yet."""
    headers = {"ETag": etag_of(change.revision), "Location": f"{CHANGES}/{change.change_id}"}
    return Answer(202, headers, change_json(change))


def answered(change: ChangeRequest) -> Answer:
    """200: what became of the change."""
    return Answer(200, {"ETag": etag_of(change.revision)}, change_json(change))
