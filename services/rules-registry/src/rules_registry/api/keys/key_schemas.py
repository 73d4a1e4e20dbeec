"""Bodies and answers of API keys."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.domain.keys.api_key import MAX_OVERLAP_SECONDS, NAME_PATTERN, KeyState
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_MS, BoundedInteger, QueryInteger, Text
from tripline_http.keys.roles import ROLES

_END = {"description": "Its last good moment, in ms since the epoch; null: it does not end"}


class NewKeySchema(ma.Schema):
    """A key to be given out."""

    name = Text(
        1,
        64,
        pattern=NAME_PATTERN,
        required=True,
        metadata={"description": "The actor of whatever it changes"},
    )
    role = ma.fields.String(required=True, validate=ma.validate.OneOf(list(ROLES)))
    expiresAt = BoundedInteger(0, MAX_MS, load_default=None, allow_none=True, metadata=_END)


class RotationSchema(ma.Schema):
    """How a key is rotated."""

    overlapSeconds = BoundedInteger(
        0,
        MAX_OVERLAP_SECONDS,
        load_default=0,
        metadata={"description": "For how long the secret of before is good as well"},
    )
    expiresAt = BoundedInteger(
        0,
        MAX_MS,
        allow_none=True,
        metadata={"description": "Its last good moment, in ms; null: none; without it that of before"},
    )


class KeySchema(ma.Schema):
    """A key that was given out. Times are in ms."""

    name = ma.fields.String(required=True)
    role = ma.fields.String(required=True, validate=ma.validate.OneOf(list(ROLES)))
    state = ma.fields.String(required=True, validate=ma.validate.OneOf(get_args(KeyState)))
    prefix = ma.fields.String(required=True, metadata={"description": "What its newest secret begins with"})
    createdAt = BoundedInteger(0, MAX_MS, required=True)
    createdBy = ma.fields.String(required=True)
    rotatedAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True)
    expiresAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True, metadata=_END)
    previousUntil = BoundedInteger(
        0,
        MAX_MS,
        required=True,
        allow_none=True,
        metadata={"description": "Until then the secret before the newest is good as well; null: it is not"},
    )
    lastUsedAt = BoundedInteger(
        0,
        MAX_MS,
        required=True,
        allow_none=True,
        metadata={"description": "To the minute, by registry and alert API; null: never"},
    )
    revokedAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True)
    revokedBy = ma.fields.String(required=True, allow_none=True)


class GivenKeySchema(KeySchema):
    """The same with the secret, which is shown this once."""

    key = ma.fields.String(
        required=True, metadata={"description": "What its holder sends; it is shown now and never again"}
    )


class KeyPageQuery(ma.Schema):
    """Which keys."""

    limit = QueryInteger(1, 100, load_default=50)
    cursor = ma.fields.String(load_default=None, validate=ma.validate.Regexp(CURSOR_PATTERN))


class KeyPageSchema(ma.Schema):
    """Keys by name."""

    items = ma.fields.List(ma.fields.Nested(KeySchema), required=True)
