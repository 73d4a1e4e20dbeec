"""The answers about imports and about differences between versions, as marshmallow schemas."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import one_of
from rules_registry.api.rule_schemas.warning_schemas import WarningSchema
from rules_registry.domain.rule_import import Outcome
from tripline_http.fields import MAX_ID, MAX_POSITION, BoundedInteger, QueryInteger
from tripline_http.problems import FieldErrorSchema

MAX_COUNT = 2_147_483_647


class ImportQuery(ma.Schema):
    """How to import."""

    atomic = ma.fields.String(
        load_default="false",
        validate=ma.validate.OneOf(("true", "false")),
        metadata={"description": "true: all or nothing"},
    )


class ImportResultSchema(ma.Schema):
    """What became of one record."""

    line = BoundedInteger(1, MAX_COUNT, required=True)
    outcome = one_of(*get_args(Outcome))
    ruleId = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    version = BoundedInteger(1, MAX_ID, required=True, allow_none=True)
    commandId = ma.fields.UUID(required=True, allow_none=True)
    firstPosition = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    lastPosition = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    errors = ma.fields.List(ma.fields.Nested(FieldErrorSchema), required=True)
    warnings = ma.fields.List(ma.fields.Nested(WarningSchema), required=True)


class ImportSchema(ma.Schema):
    """A result per record, in their order."""

    applied = BoundedInteger(
        0, MAX_COUNT, required=True, metadata={"description": "Records that changed something"}
    )
    unchanged = BoundedInteger(0, MAX_COUNT, required=True)
    refused = BoundedInteger(0, MAX_COUNT, required=True)
    results = ma.fields.List(ma.fields.Nested(ImportResultSchema), required=True)


class DiffQuery(ma.Schema):
    """Which two versions."""

    from_ = QueryInteger(1, MAX_ID, required=True, data_key="from")
    to = QueryInteger(1, MAX_ID, required=True)


class DifferenceSchema(ma.Schema):
    """One field that is different, before and after."""

    field = ma.fields.String(required=True, metadata={"description": "Path in dots, like definition.limit"})
    before = ma.fields.Raw(required=True, allow_none=True)
    after = ma.fields.Raw(required=True, allow_none=True)


class DiffSchema(ma.Schema):
    """What is different between two versions; nothing where they are alike."""

    ruleId = BoundedInteger(1, MAX_ID, required=True)
    fromVersion = BoundedInteger(1, MAX_ID, required=True)
    toVersion = BoundedInteger(1, MAX_ID, required=True)
    summary = ma.fields.String(
        required=True,
        metadata={
            "description": "In words",
            "example": "limit 1000 → 1500; window 20 → 30 min; + filter: kind = A; state ACTIVE → PAUSED",
        },
    )
    changes = ma.fields.List(ma.fields.Nested(DifferenceSchema), required=True)
