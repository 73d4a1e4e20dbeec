"""The log as the registry answers it, as marshmallow schemas."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import Any, get_args

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import (
    EVENT_TYPES,
    STATES,
    DefinitionSchema,
    SettingsSchema,
    WidestWindowSchema,
    one_of,
    time_of,
)
from rules_registry.domain.events import Command
from tripline_http.fields import MAX_ID, MAX_POSITION, BoundedInteger, DecimalText


class RuleEventSchema(ma.Schema):
    """A record of rules.v1: of a rule, of the settings, of a list, of a parameter, or a control command; each with
    fields of its own."""

    eventId = ma.fields.UUID(required=True)
    type = one_of(*EVENT_TYPES)
    position = BoundedInteger(1, MAX_POSITION, required=True)
    occurredAt = time_of(required=True)
    actor = ma.fields.String(required=True)
    widestWindows = ma.fields.List(ma.fields.Nested(WidestWindowSchema), required=True)
    ruleId = BoundedInteger(1, MAX_ID)
    version = BoundedInteger(1, MAX_ID)
    definitionVersion = BoundedInteger(1, MAX_ID)
    state = ma.fields.String(validate=ma.validate.OneOf(STATES))
    name = ma.fields.String()
    definition = ma.fields.Nested(DefinitionSchema)
    definitionHash = ma.fields.String(metadata={"pattern": "^[0-9a-f]{64}$"})
    effectiveFrom = time_of()
    effectiveUntil = time_of()
    percent = BoundedInteger(1, 99, metadata={"description": "Of RuleShadowRolledOut"})
    settings = ma.fields.Nested(SettingsSchema)
    command = ma.fields.String(validate=ma.validate.OneOf(get_args(Command)))
    commandId = ma.fields.UUID()
    traceUntil = time_of()
    group = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.String())
    transactionId = ma.fields.String()
    eventTime = time_of()
    backfillId = ma.fields.UUID()
    completeFrom = time_of()
    values = ma.fields.List(ma.fields.String(), metadata={"description": "Of ListChanged"})
    added = ma.fields.List(
        ma.fields.Dict(), metadata={"description": "Of ListEntriesChanged: `value`, and perhaps `until`"}
    )
    removed = ma.fields.List(ma.fields.String(), metadata={"description": "Of ListEntriesChanged"})
    value = DecimalText(metadata={"description": "Of ParameterChanged"})

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        """The event's member: where there is no `values`, marshmallow would take the mapping's method for it."""
        return obj.get(attr, default)


class RuleEventPageSchema(ma.Schema):
    """The log by position."""

    items = ma.fields.List(ma.fields.Nested(RuleEventSchema), required=True)
