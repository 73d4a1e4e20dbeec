"""Responses of the registry, as marshmallow schemas: they are the document, the values come ready-made."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.api.rule_schemas.filter_schema import FILTER_REF, PARAMETER
from rules_registry.api.rule_schemas.grouping_schemas import GROUPING_KEY
from rules_registry.api.rule_schemas.purpose_schemas import SEVERITIES, PurposeSchema
from rules_registry.api.rule_schemas.rule_body_schema import CONDITIONS_REF, PRECISION_PATTERN
from rules_registry.api.services import installed_type
from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.domain.purposes.rule_purpose import MAX_OWNER, TAG_PATTERN
from tripline_contracts.rules.rule_definition import Firing, Function, LateEvents
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import (
    DECIMAL_PATTERN,
    MAX_ID,
    MAX_MS,
    MAX_POSITION,
    BoundedInteger,
    QueryInteger,
    Text,
)

STATES = ("ACTIVE", "PAUSED", "DELETED")
FUNCTIONS = get_args(Function)
OPERATORS = ("=", "!=", ">=", "<=", ">", "<")
EVENT_TYPES = (
    "RulePublished",
    "RulePaused",
    "RuleResumed",
    "RuleDeleted",
    "RuleShadowStarted",
    "RuleShadowRolledOut",
    "RuleShadowEnded",
    "RuleShadowPromoted",
    "SettingsChanged",
    "ControlCommand",
    "ListChanged",
    "ListEntriesChanged",
    "ParameterChanged",
)
MAX_WINDOW_SECONDS = 34_560_000
GROUPABLE_SCHEMA = "GroupableField"


def _id(**kwargs: object) -> BoundedInteger:
    return BoundedInteger(1, MAX_ID, required=True, **kwargs)


def time_of(**kwargs: object) -> BoundedInteger:
    return BoundedInteger(0, MAX_MS, **kwargs)


def one_of(*values: str) -> ma.fields.String:
    return ma.fields.String(required=True, validate=ma.validate.OneOf(values))


class DefinitionSchema(ma.Schema):
    """A definition in its normal form. A chained one has `conditions` in place of grouping, aggregate, operator, limit
    and window; every other has all of these."""

    groupingKeyNames = ma.fields.List(ma.fields.Raw(metadata=GROUPING_KEY))
    aggregatorFunctionType = ma.fields.String(validate=ma.validate.OneOf(FUNCTIONS))
    aggregateFieldName = ma.fields.String(allow_none=True)
    limitOperatorType = ma.fields.String(validate=ma.validate.OneOf(OPERATORS))
    limit = ma.fields.Raw(metadata={"anyOf": [{"type": "string", "pattern": DECIMAL_PATTERN}, PARAMETER]})
    windowSeconds = BoundedInteger(1, MAX_WINDOW_SECONDS)
    conditions = ma.fields.Raw(metadata={"allOf": [CONDITIONS_REF], "description": "Of a chained rule only"})
    firing = one_of(*get_args(Firing))
    lateEvents = one_of(*get_args(LateEvents))
    precision = ma.fields.String(required=True, metadata={"pattern": PRECISION_PATTERN})
    filter = ma.fields.Raw(
        metadata={"allOf": [FILTER_REF], "description": "Left out where every transaction passes"}
    )
    resetOnAlert = ma.fields.Boolean(metadata={"enum": [True], "description": "Left out where it is false"})
    cooldownSeconds = BoundedInteger(
        1, MAX_WINDOW_SECONDS, metadata={"description": "Left out where there is none"}
    )


class ShadowSchema(ma.Schema):
    """A version that runs beside a rule's own: its alerts go to shadow-alerts.v1 and to nobody, but for those of the
    groups to which it is rolled out."""

    version = _id(metadata={"description": "The one that its alerts have, and keep when it is promoted"})
    name = ma.fields.String(required=True)
    definition = ma.fields.Nested(DefinitionSchema, required=True)
    definitionHash = ma.fields.String(required=True, metadata={"pattern": "^[0-9a-f]{64}$"})
    effectiveFrom = time_of(required=True)
    effectiveUntil = time_of(required=True, allow_none=True, metadata={"description": "null: it has no end"})
    percent = BoundedInteger(
        0,
        99,
        required=True,
        metadata={"description": "Of the rule's groups, for which it counts; 0: not rolled out"},
    )


class RolloutSchema(ma.Schema):
    """How far a shadow is to be rolled out."""

    percent = BoundedInteger(
        1, 99, required=True, metadata={"description": "Of the rule's groups; more than it has now"}
    )


class RuleSchema(ma.Schema):
    """A rule as it stands."""

    ruleId = _id()
    version = _id(metadata={"description": "Grows by one with every event of the rule; the ETag"})
    definitionVersion = _id(metadata={"description": "The version that brought the definition in force"})
    state = one_of(*STATES)
    name = ma.fields.String(required=True)
    definition = ma.fields.Nested(DefinitionSchema, required=True)
    definitionHash = ma.fields.String(required=True, metadata={"pattern": "^[0-9a-f]{64}$"})
    effectiveFrom = time_of(required=True)
    effectiveUntil = time_of(required=True, allow_none=True, metadata={"description": "null: it has no end"})
    shadow = ma.fields.Nested(
        ShadowSchema, required=True, allow_none=True, metadata={"description": "null: none runs beside it"}
    )
    position = BoundedInteger(1, MAX_POSITION, required=True, metadata={"description": "Of its last event"})
    changedAt = time_of(required=True)
    changedBy = ma.fields.String(required=True)
    purpose = ma.fields.Nested(PurposeSchema, required=True)


class RulePageSchema(ma.Schema):
    """Rules by id."""

    items = ma.fields.List(ma.fields.Nested(RuleSchema), required=True)


class RuleVersionSchema(ma.Schema):
    """What one event made of a rule."""

    ruleId = _id()
    version = _id()
    definitionVersion = _id()
    type = one_of(*EVENT_TYPES[:8])
    state = one_of(*STATES)
    name = ma.fields.String(required=True)
    definition = ma.fields.Nested(DefinitionSchema, required=True)
    definitionHash = ma.fields.String(required=True, metadata={"pattern": "^[0-9a-f]{64}$"})
    effectiveFrom = time_of(required=True)
    effectiveUntil = time_of(required=True, allow_none=True, metadata={"description": "null: it has no end"})
    percent = BoundedInteger(
        1, 99, required=True, allow_none=True, metadata={"description": "Of a rollout; null of anything else"}
    )
    position = BoundedInteger(1, MAX_POSITION, required=True)
    occurredAt = time_of(required=True)
    actor = ma.fields.String(required=True)
    reason = ma.fields.String(required=True, allow_none=True)


class RuleVersionPageSchema(ma.Schema):
    """A rule's versions, in the order that was asked for."""

    items = ma.fields.List(ma.fields.Nested(RuleVersionSchema), required=True)


class WidestWindowSchema(ma.Schema):
    """The widest window of a grouping set, and whose it is."""

    groupingKeyNames = ma.fields.List(ma.fields.Raw(metadata=GROUPING_KEY), required=True)
    windowSeconds = BoundedInteger(1, MAX_WINDOW_SECONDS, required=True)
    ruleId = _id()
    version = _id()


class WidestWindowsSchema(ma.Schema):
    """What the engine must keep, as of a position (0: before any event)."""

    position = BoundedInteger(0, MAX_POSITION, required=True)
    items = ma.fields.List(ma.fields.Nested(WidestWindowSchema), required=True)


class SettingsSchema(ma.Schema):
    """The engine's settings, in whole seconds."""

    allowedLatenessSeconds = BoundedInteger(0, 604_800, required=True)
    maxFutureSkewSeconds = BoundedInteger(0, 86_400, required=True)
    maxDisorderSeconds = BoundedInteger(0, 86_400, required=True)
    idlePartitionSeconds = BoundedInteger(1, 86_400, required=True)

    @ma.post_load
    def _to_value(self, data: dict[str, int], **_: object) -> EngineSettings:
        return EngineSettings(
            allowed_lateness_seconds=data["allowedLatenessSeconds"],
            max_future_skew_seconds=data["maxFutureSkewSeconds"],
            max_disorder_seconds=data["maxDisorderSeconds"],
            idle_partition_seconds=data["idlePartitionSeconds"],
        )


class RuleStatusSchema(ma.Schema):
    """Published beside applied; applied means by all shards, null where that has not happened yet."""

    ruleId = _id()
    name = ma.fields.String(required=True)
    state = one_of(*STATES)
    publishedVersion = _id()
    publishedPosition = BoundedInteger(1, MAX_POSITION, required=True)
    appliedVersion = BoundedInteger(1, MAX_ID, required=True, allow_none=True)
    appliedPosition = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    appliedAt = time_of(required=True, allow_none=True)
    warmFrom = time_of(required=True, allow_none=True)


class RuleStatusPageSchema(ma.Schema):
    """Status by rule id."""

    items = ma.fields.List(ma.fields.Nested(RuleStatusSchema), required=True)


class PageQuery(ma.Schema):
    """How much of a listing."""

    limit = QueryInteger(1, 100, load_default=50)
    cursor = ma.fields.String(
        load_default=None, metadata={"pattern": CURSOR_PATTERN, "description": "From a Link header, as it is"}
    )


def _is_groupable(name: str) -> None:
    groupable = installed_type().groupings
    if name not in groupable:
        raise ma.ValidationError(f"Must be one of: {', '.join(groupable)}.")


class RuleQuery(PageQuery):
    """Which rules."""

    state = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(STATES),
        metadata={"description": "Deleted rules are listed with DELETED only"},
    )
    groupingKey = ma.fields.String(
        load_default=None,
        validate=_is_groupable,
        metadata={
            "allOf": [{"$ref": f"#/components/schemas/{GROUPABLE_SCHEMA}"}],
            "description": "Rules that group by this field, or party, others beside it or not",
        },
    )
    name = Text(
        1,
        200,
        pattern="^[^\\u0000]*$",
        load_default=None,
        metadata={"description": "A part of the name, in any case"},
    )
    severity = ma.fields.String(load_default=None, validate=ma.validate.OneOf(SEVERITIES))
    tag = Text(
        1, 40, pattern=TAG_PATTERN, load_default=None, metadata={"description": "Rules that have this tag"}
    )
    owner = Text(
        1,
        MAX_OWNER,
        pattern="^[^\\u0000]*$",
        load_default=None,
        metadata={"description": "All of the owner's name, in any case"},
    )


class RuleStatusQuery(PageQuery):
    """Which rules' status."""

    state = ma.fields.String(load_default=None, validate=ma.validate.OneOf(STATES))
    ruleId = QueryInteger(1, MAX_ID, load_default=None)


class RuleEventQuery(ma.Schema):
    """Which part of the log."""

    after = QueryInteger(
        0, MAX_POSITION, load_default=0, metadata={"description": "Events after this position"}
    )
    limit = QueryInteger(1, 100, load_default=50)
    ruleId = QueryInteger(1, MAX_ID, load_default=None)
