"""Queries, bodies and answers about changes that another person has to approve."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.api.audit.audit_schemas import KINDS, SubjectSchema
from rules_registry.domain.review.change_request import ChangeKind
from tripline_contracts import display_text
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger, Text

STATES = ("DRAFT", "SUBMITTED", "APPROVED", "WITHDRAWN")
_HASH = ma.validate.Regexp("^[0-9a-f]{64}$")


class ChangeQuery(ma.Schema):
    """A page of changes, newest first."""

    state = ma.fields.String(load_default=None, validate=ma.validate.OneOf(STATES))
    kind = ma.fields.String(
        load_default=None, validate=ma.validate.OneOf(KINDS), metadata={"description": "Of what they are"}
    )
    subject = Text(
        1,
        64,
        pattern=display_text.NAME_PATTERN,
        load_default=None,
        metadata={"description": "Its id or name, as text"},
    )
    unreviewed = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(["true", "false"]),
        metadata={"description": "true: what was done alone and nobody has looked at yet"},
    )
    limit = QueryInteger(1, 200, load_default=50)
    cursor = ma.fields.String(load_default=None, validate=ma.validate.Regexp(CURSOR_PATTERN))


class ApprovalSchema(ma.Schema):
    """What the approver has seen."""

    contentHash = ma.fields.String(required=True, validate=_HASH)


class AloneQuery(ma.Schema):
    """Acting without a second person."""

    breakGlass = ma.fields.String(
        load_default="false",
        validate=ma.validate.OneOf(["true", "false"]),
        metadata={
            "description": "true: at once, without a second person; needs `reason`, and is flagged until somebody has "
            "reviewed it"
        },
    )


class PauseQuery(AloneQuery):
    """Pausing without a second person, or with one in any case."""

    asChange = ma.fields.String(
        load_default="false",
        validate=ma.validate.OneOf(["true", "false"]),
        metadata={
            "description": "true: as a change that a second person decides on, also where no second person is needed; "
            "breakGlass then counts for nothing"
        },
    )


class ChangeSchema(ma.Schema):
    """A change as it stands. An approval is of `contentHash`, which covers kind, subject and content."""

    changeId = BoundedInteger(1, MAX_ID, required=True)
    revision = BoundedInteger(1, MAX_ID, required=True)
    state = ma.fields.String(required=True, validate=ma.validate.OneOf(STATES))
    kind = ma.fields.String(required=True, validate=ma.validate.OneOf(get_args(ChangeKind)))
    subject = ma.fields.Nested(SubjectSchema, required=True)
    ruleId = BoundedInteger(1, MAX_ID, required=True, allow_none=True)
    content = ma.fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "In a listing null for lists, which may be long"},
    )
    contentHash = ma.fields.String(required=True, validate=_HASH)
    author = ma.fields.String(required=True)
    editors = ma.fields.List(ma.fields.String(), required=True)
    createdAt = BoundedInteger(0, MAX_MS, required=True)
    changedAt = BoundedInteger(0, MAX_MS, required=True)
    breakGlass = ma.fields.Boolean(required=True)
    awaitsReview = ma.fields.Boolean(required=True)
    decidedBy = ma.fields.String(required=True, allow_none=True)
    decidedAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True)
    position = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    reason = ma.fields.String(required=True, allow_none=True)


class ChangePageSchema(ma.Schema):
    """A page of changes."""

    items = ma.fields.List(ma.fields.Nested(ChangeSchema), required=True)
    fourEyes = ma.fields.Boolean(
        required=True,
        metadata={"description": "Whether a second person has to approve what could silence an alert"},
    )
