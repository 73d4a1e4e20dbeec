"""Malformed commands of operators."""

from __future__ import annotations

import json

from tests.oracle.builders.registry import Registry
from tests.oracle.parsers.operator_commands import (
    CLEAR_GROUP,
    CLEAR_RULE,
    END_BACKFILL,
    START_BACKFILL,
    VOID_TRANSACTION,
)
from tests.oracle.values.model import Json


def wrong_commands(registry: Registry, now: int) -> list[dict[str, Json]]:
    """Commands that cannot be read, each wrong in one way."""
    rule: dict[str, Json] = {"ruleId": 1}
    void: dict[str, Json] = {"transactionId": "t-1", "eventTime": now}
    wrong: list[tuple[str, dict[str, Json]]] = [
        (CLEAR_RULE, {}),
        (CLEAR_RULE, {"ruleId": None}),
        (CLEAR_RULE, {"ruleId": "1"}),
        (CLEAR_RULE, {**rule, "commandId": None}),
        (CLEAR_GROUP, rule),
        (CLEAR_GROUP, {**rule, "group": None}),
        (CLEAR_GROUP, {**rule, "group": []}),
        (CLEAR_GROUP, {**rule, "group": {"payeeId": None}}),
        (CLEAR_GROUP, {"group": {"payeeId": "25"}}),
        (VOID_TRANSACTION, {"eventTime": now}),
        (VOID_TRANSACTION, {"transactionId": "t-1"}),
        (VOID_TRANSACTION, {**void, "transactionId": None}),
        (VOID_TRANSACTION, {**void, "eventTime": str(now)}),
        (VOID_TRANSACTION, {**void, "eventTime": True}),
        (START_BACKFILL, {"commandId": 7}),
        (END_BACKFILL, {}),
        (END_BACKFILL, {"backfillId": 7}),
        (END_BACKFILL, {"backfillId": "b", "completeFrom": "1"}),
        (END_BACKFILL, {"backfillId": "b", "completeFrom": True}),
    ]
    return [json.loads(registry.control(command, now, more)) for command, more in wrong]
