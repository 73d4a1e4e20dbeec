"""The reports of shards where they stand in rules.v1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rules_registry.domain.reports.status_fields import MAX_INT, MAX_MS, MAX_POSITION, integer
from rules_registry.errors import InvalidStatus

_DIGEST = re.compile(r"([0-9a-f]{64})?")
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class PositionReport:
    """Shard `shard` of `shards` of an engine has applied all events up to `position`.

    `digest` is that of the events after `digest_from`. A shard that waits has refused an event since; `reported_at` is
    in ms.
    """

    engine: str
    shard: int
    shards: int
    position: int
    digest: str
    digest_from: int
    is_waiting: bool
    reported_at: int


def read_position(data: Mapping[str, object]) -> PositionReport:
    """Reads a record of rule-status.v1 whose `kind` is `position`. Raises `InvalidStatus` saying what is wrong."""
    engine, digest, waiting = data.get("engine"), data.get("digest"), data.get("waiting")
    if not isinstance(engine, str) or not 1 <= len(engine) <= _LONGEST_NAME or not engine.isprintable():
        raise InvalidStatus("engine is not a name")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InvalidStatus("digest is neither empty nor 64 hex digits")
    if not isinstance(waiting, bool):
        raise InvalidStatus("waiting is neither true nor false")
    shards = integer(data, "shards", 1, MAX_INT)
    position = integer(data, "position", 0, MAX_POSITION)
    return PositionReport(
        engine=engine,
        shard=integer(data, "shard", 0, shards - 1),
        shards=shards,
        position=position,
        digest=digest,
        digest_from=integer(data, "digestFrom", 0, position),
        is_waiting=waiting,
        reported_at=integer(data, "reportedAt", 0, MAX_MS),
    )
