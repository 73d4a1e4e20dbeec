"""What a shard says after it has taken a rule event: a record of rule-status.v1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from rules_registry.errors import InvalidStatus

_MAX_INT = 2_147_483_647
_MAX_POSITION = 9_007_199_254_740_991
_MAX_MS = 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class Applied:
    """Shard `shard` of `shards` has taken the event at `position`; times in ms, `warm_from` null before a tick."""

    rule_id: int
    version: int
    position: int
    shard: int
    shards: int
    applied_at: int
    warm_from: int | None


def read_applied(value: bytes | None) -> Applied:
    """Reads a record's value. Raises `InvalidStatus` saying what is wrong."""
    try:
        data = json.loads(value or b"")
    except (ValueError, RecursionError) as error:
        raise InvalidStatus("not JSON") from error
    if not isinstance(data, dict):
        raise InvalidStatus("not an object")
    shards = _integer(data, "shards", 1, _MAX_INT)
    return Applied(
        rule_id=_integer(data, "ruleId", 1, _MAX_POSITION),
        version=_integer(data, "version", 1, _MAX_INT),
        position=_integer(data, "position", 1, _MAX_POSITION),
        shard=_integer(data, "shard", 0, shards - 1),
        shards=shards,
        applied_at=_integer(data, "appliedAt", 0, _MAX_MS),
        warm_from=None if data.get("warmFrom") is None else _integer(data, "warmFrom", -_MAX_MS, 2 * _MAX_MS),
    )


def _integer(data: Mapping[str, object], name: str, low: int, high: int) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidStatus(f"{name} is not an integer from {low} to {high}")
    return value
