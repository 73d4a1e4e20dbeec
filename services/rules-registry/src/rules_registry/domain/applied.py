"""What a shard says after it has taken a rule event: a record of rule-status.v1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules_registry.domain.reading import MAX_INT, MAX_MS, MAX_POSITION, integer, json_object
from rules_registry.domain.shard_reports import Exported, read_exported
from rules_registry.errors import InvalidStatus


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


def read_status(value: bytes | None) -> Applied | Exported:
    """Reads a record's value; those without a `kind` say what was applied. Raises `InvalidStatus`."""
    data = json_object(value)
    kind = data.get("kind")
    if kind is None:
        return _read_applied(data)
    if kind == "export":
        return read_exported(data)
    raise InvalidStatus("an unknown kind")


def _read_applied(data: Mapping[str, object]) -> Applied:
    shards = integer(data, "shards", 1, MAX_INT)
    return Applied(
        rule_id=integer(data, "ruleId", 1, MAX_POSITION),
        version=integer(data, "version", 1, MAX_INT),
        position=integer(data, "position", 1, MAX_POSITION),
        shard=integer(data, "shard", 0, shards - 1),
        shards=shards,
        applied_at=integer(data, "appliedAt", 0, MAX_MS),
        warm_from=None if data.get("warmFrom") is None else integer(data, "warmFrom", -MAX_MS, 2 * MAX_MS),
    )
