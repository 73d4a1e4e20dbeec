"""The registry's answers about control commands and backfills, as marshmallow schemas."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import get_args

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import STATES, one_of
from rules_registry.domain.events import Command
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger

CONTROLS = get_args(Command)
MAX_COUNT = 2_147_483_647


def _ids(description: str) -> ma.fields.List[int]:
    inner = BoundedInteger(1, MAX_POSITION)
    return ma.fields.List(inner, required=True, metadata={"description": description})


class HeldRuleSchema(ma.Schema):
    """A rule as a shard holds it."""

    ruleId = BoundedInteger(1, MAX_POSITION, required=True)
    version = BoundedInteger(1, MAX_ID, required=True)
    definitionHash = ma.fields.String(required=True, metadata={"pattern": "^[0-9a-f]{64}$"})
    state = one_of(*STATES[:2])


class ShardAnswerSchema(ma.Schema):
    """What one shard holds, beside what the registry had published by the command's position."""

    shard = BoundedInteger(0, MAX_COUNT, required=True)
    exportedAt = BoundedInteger(0, MAX_MS, required=True)
    position = BoundedInteger(1, MAX_POSITION, required=True)
    equal = ma.fields.Boolean(required=True)
    missing = _ids("Rules that the shard lacks")
    unexpected = _ids("Rules that it should not have")
    different = _ids("Rules of which it holds another version, definition or state")
    rules = ma.fields.List(ma.fields.Nested(HeldRuleSchema), required=True)


class ExportSchema(ma.Schema):
    """The engine's answer to an export."""

    shards = BoundedInteger(
        1, MAX_COUNT, required=True, allow_none=True, metadata={"description": "null before the first answer"}
    )
    complete = ma.fields.Boolean(required=True, metadata={"description": "Whether all shards have answered"})
    equal = ma.fields.Boolean(
        required=True,
        allow_none=True,
        metadata={
            "description": "Whether all shards hold what the registry says; null until all have answered"
        },
    )
    answers = ma.fields.List(ma.fields.Nested(ShardAnswerSchema), required=True)


class TakenCommandSchema(ma.Schema):
    """A control command that was taken, and what it does."""

    commandId = ma.fields.UUID(required=True)
    command = one_of(*CONTROLS)
    position = BoundedInteger(1, MAX_POSITION, required=True)
    lastPosition = BoundedInteger(
        1, MAX_POSITION, required=True, metadata={"description": "Of the last event that followed from it"}
    )
    occurredAt = BoundedInteger(0, MAX_MS, required=True)
    actor = ma.fields.String(required=True)
    effect = ma.fields.String(required=True, metadata={"description": "What it does, in a sentence"})
    deletedRules = BoundedInteger(0, MAX_POSITION, required=True)
    ruleId = BoundedInteger(
        1,
        MAX_ID,
        required=True,
        allow_none=True,
        metadata={"description": "Of TRACE_RULE, CLEAR_RULE and CLEAR_GROUP; else null"},
    )
    traceUntil = BoundedInteger(
        0, MAX_MS, required=True, allow_none=True, metadata={"description": "Of TRACE_RULE, in ms; else null"}
    )
    group = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        required=True,
        allow_none=True,
        metadata={"description": "Of CLEAR_GROUP; else null"},
    )
    transactionId = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "Of VOID_TRANSACTION; else null"}
    )
    eventTime = BoundedInteger(
        0, MAX_MS, required=True, allow_none=True, metadata={"description": "Of VOID_TRANSACTION; else null"}
    )
    backfillId = ma.fields.UUID(
        required=True,
        allow_none=True,
        metadata={"description": "Of END_BACKFILL; else null. A START_BACKFILL goes by its commandId"},
    )
    completeFrom = BoundedInteger(
        0,
        MAX_MS,
        required=True,
        allow_none=True,
        metadata={"description": "Of END_BACKFILL, in ms, where it was given; else null"},
    )


class ControlCommandSchema(TakenCommandSchema):
    """A control command with what the engine answered."""

    export = ma.fields.Nested(
        ExportSchema, required=True, allow_none=True, metadata={"description": "null for other commands"}
    )


class ControlCommandPageSchema(ma.Schema):
    """Control commands, newest first, without the shards' answers."""

    items = ma.fields.List(ma.fields.Nested(TakenCommandSchema), required=True)


class ControlCommandQuery(ma.Schema):
    """How much of the listing."""

    limit = QueryInteger(1, 100, load_default=50)
    cursor = ma.fields.String(
        load_default=None, metadata={"pattern": CURSOR_PATTERN, "description": "From a Link header, as it is"}
    )


class BackfillSchema(ma.Schema):
    """A backfill. It stands until it is ended; the members of the end are null before."""

    backfillId = ma.fields.UUID(
        required=True, metadata={"description": "The value of the header `backfill` of its records"}
    )
    position = BoundedInteger(1, MAX_POSITION, required=True)
    startedAt = BoundedInteger(0, MAX_MS, required=True)
    startedBy = ma.fields.String(required=True)
    endedPosition = BoundedInteger(1, MAX_POSITION, required=True, allow_none=True)
    endedAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True)
    endedBy = ma.fields.String(required=True, allow_none=True)
    completeFrom = BoundedInteger(0, MAX_MS, required=True, allow_none=True)


class BackfillPageSchema(ma.Schema):
    """Backfills, newest first."""

    items = ma.fields.List(ma.fields.Nested(BackfillSchema), required=True)


class BackfillQuery(ControlCommandQuery):
    """Which backfills."""

    state = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(("open", "ended")),
        metadata={"description": "Both if left out"},
    )
