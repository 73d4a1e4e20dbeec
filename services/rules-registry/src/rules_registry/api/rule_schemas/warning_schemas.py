"""Warnings, as marshmallow schemas."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import RuleSchema, one_of
from rules_registry.domain.advice.rule_warning import CODES
from tripline_http.fields import MAX_ID, BoundedInteger


class WarningSchema(ma.Schema):
    """Something that is legal and likely wrong."""

    code = one_of(*CODES)
    field = ma.fields.String(
        required=True, metadata={"description": "Like conditions.all[1].limit; empty: the rule"}
    )
    message = ma.fields.String(required=True)
    ruleId = BoundedInteger(
        1,
        MAX_ID,
        required=True,
        allow_none=True,
        metadata={"description": "The other rule, where there is one"},
    )


class CheckedSchema(ma.Schema):
    """What is likely wrong with a rule that could be published."""

    warnings = ma.fields.List(ma.fields.Nested(WarningSchema), required=True)


class PublishedRuleSchema(RuleSchema):
    """A rule as it stands after its definition came, and what is likely wrong with that."""

    warnings = ma.fields.List(ma.fields.Nested(WarningSchema), required=True)
