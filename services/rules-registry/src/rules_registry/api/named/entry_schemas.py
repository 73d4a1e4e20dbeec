"""Queries and responses about the entries of a list, as marshmallow schemas."""

from __future__ import annotations

import marshmallow as ma

from rules_registry.api.named.named_value_schemas import ListHeadSchema
from rules_registry.api.rule_schemas.answer_schemas import PageQuery
from tripline_contracts.filters import named_values
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, BoundedInteger, Text


class EntryQuery(PageQuery):
    """How much of a list's entries, and which."""

    prefix = Text(
        1,
        named_values.MAX_TEXT,
        pattern="^[^\\u0000]*$",
        load_default="",
        metadata={"description": "Only values that begin with it; case counts"},
    )


class EntrySchema(ma.Schema):
    """A value of a list."""

    value = ma.fields.String(required=True)
    until = BoundedInteger(
        0,
        MAX_MS,
        required=True,
        allow_none=True,
        metadata={"description": "When it will be removed; null: it stays"},
    )
    position = BoundedInteger(
        1, MAX_POSITION, required=True, metadata={"description": "Of the event that brought it, or its end"}
    )


class EntryPageSchema(ma.Schema):
    """Entries by value, ascending by code point."""

    items = ma.fields.List(ma.fields.Nested(EntrySchema), required=True)


class EntriesOutcomeSchema(ListHeadSchema):
    """A list after its entries were changed; where nothing was to change, as it was."""

    added = BoundedInteger(
        0, MAX_ID, required=True, metadata={"description": "Entries that are new, or have another end now"}
    )
    removed = BoundedInteger(0, MAX_ID, required=True)
