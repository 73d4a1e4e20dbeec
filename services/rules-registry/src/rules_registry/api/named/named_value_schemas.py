"""Responses about lists and parameters, as marshmallow schemas."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import Any

import marshmallow as ma

from tripline_contracts.filters import named_values
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, BoundedInteger, DecimalText


class NamedSchema(ma.Schema):
    """What lists and parameters have in common."""

    name = ma.fields.String(required=True, metadata={"pattern": f"^{named_values.NAME_PATTERN}$"})
    version = BoundedInteger(
        1,
        MAX_ID,
        required=True,
        metadata={"description": "Grows by one with every change of this name; the ETag"},
    )
    position = BoundedInteger(1, MAX_POSITION, required=True, metadata={"description": "Of its last event"})
    changedAt = BoundedInteger(0, MAX_MS, required=True)
    changedBy = ma.fields.String(required=True)


class ListHeadSchema(NamedSchema):
    """A list without its values."""

    size = BoundedInteger(0, MAX_ID, required=True, metadata={"description": "How many values it has"})


class ListSchema(ListHeadSchema):
    """A list as it stands."""

    values = ma.fields.List(
        ma.fields.String(),
        metadata={
            "description": "Ascending by code point, each once; left out of a list that is longer than PUT takes: see "
            "its entries"
        },
    )

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        """The list's member: where there is no `values`, marshmallow would take the mapping's method for it."""
        return obj.get(attr, default)


class ListPageSchema(ma.Schema):
    """Lists by name, without their values."""

    items = ma.fields.List(ma.fields.Nested(ListHeadSchema), required=True)


class ParameterSchema(NamedSchema):
    """A parameter as it stands."""

    value = DecimalText(required=True)


class ParameterPageSchema(ma.Schema):
    """Parameters by name."""

    items = ma.fields.List(ma.fields.Nested(ParameterSchema), required=True)
