"""Queries and answers of the audit trail."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.domain.audit.audit_entry import SubjectKind
from tripline_contracts import display_text
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger, Text

KINDS = get_args(SubjectKind)
_HASH = ma.validate.Regexp("^[0-9a-f]{64}$")


class AuditQuery(ma.Schema):
    """What is to be in the answer."""

    actor = Text(1, 200, pattern=display_text.NAME_PATTERN, load_default=None)
    type = ma.fields.String(load_default=None, validate=ma.validate.Regexp("^[A-Za-z]{1,64}$"))
    kind = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(KINDS),
        metadata={"description": "Of what the entries are"},
    )
    subject = Text(
        1,
        64,
        pattern=display_text.NAME_PATTERN,
        load_default=None,
        metadata={"description": "Its id or name, as text"},
    )
    since = QueryInteger(0, MAX_MS, load_default=None, metadata={"description": "From then on, in ms"})
    until = QueryInteger(0, MAX_MS, load_default=None, metadata={"description": "Before then, in ms"})


class AuditPageQuery(AuditQuery):
    """The same by pages."""

    order = ma.fields.String(
        load_default="oldest",
        validate=ma.validate.OneOf(("oldest", "newest")),
        metadata={"description": "Which come first"},
    )
    limit = QueryInteger(1, 200, load_default=50)
    cursor = ma.fields.String(load_default=None, validate=ma.validate.Regexp(CURSOR_PATTERN))


class AuditExportQuery(AuditQuery):
    """The same at once."""

    after = QueryInteger(
        0, MAX_POSITION, load_default=0, metadata={"description": "Only entries after this number"}
    )


class SubjectSchema(ma.Schema):
    """What an entry is about."""

    kind = ma.fields.String(required=True, validate=ma.validate.OneOf(KINDS))
    id = ma.fields.String(required=True, allow_none=True)


class AuditEntrySchema(ma.Schema):
    """Who changed what, when and why. `hash` is the SHA-256 of the other members as RFC 8785 JSON."""

    sequence = BoundedInteger(1, MAX_POSITION, required=True)
    hash = ma.fields.String(required=True, validate=_HASH)
    previousHash = ma.fields.String(required=True, validate=_HASH)
    type = ma.fields.String(required=True)
    occurredAt = BoundedInteger(0, MAX_MS, required=True)
    actor = ma.fields.String(required=True)
    role = ma.fields.String(required=True, allow_none=True)
    requestId = ma.fields.String(required=True, allow_none=True)
    reason = ma.fields.String(required=True, allow_none=True)
    subject = ma.fields.Nested(SubjectSchema, required=True)
    position = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    before = ma.fields.Dict(required=True, allow_none=True)
    after = ma.fields.Dict(required=True, allow_none=True)


class AuditPageSchema(ma.Schema):
    """A page of entries in order."""

    items = ma.fields.List(ma.fields.Nested(AuditEntrySchema), required=True)


class ChainHeadSchema(ma.Schema):
    """The last entry's number and hash: kept elsewhere, they show later that nothing up to there was altered."""

    sequence = BoundedInteger(0, MAX_POSITION, required=True)
    hash = ma.fields.String(required=True, validate=_HASH)
