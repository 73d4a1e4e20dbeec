"""Input and output of the oracle: records, micro-batches, rejects, the outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tests.oracle.values.rule_counts import Counts

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Record:
    """One Kafka record of transactions.v1; record_time in ms, value None for a tombstone.

    `backfill` is the text of the header of that name, None without one.
    """

    partition: int
    offset: int
    record_time: int
    value: bytes | None
    backfill: str | None = None


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Raw values of one micro-batch, each topic in order of arrival."""

    rule_events: tuple[bytes, ...]
    ticks: tuple[bytes, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that was refused, and why."""

    partition: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a history.

    `alerts` are alerts.v1 values without `detectedAt`, in engine order, then by rule id; `rejects` are in
    engine order. `duplicates` and `backfilled`, which is what a backfill has let in and no duplicate, count
    (transaction, anchor) pairs, `null_groups` (transaction, rule) pairs.
    `statuses` and `exports` are the two kinds of rule-status.v1 values as any shard gives them, by position,
    without `shard`, `shards`, `appliedAt` and `exportedAt`. `counts` are by rule id. `traces` are
    rule-traces.v1 values without `judgedAt`, in engine order, then by rule id, however many there are.
    `shadow_alerts` are shadow-alerts.v1 values, as `alerts` are.
    """

    alerts: list[dict[str, Json]]
    rejects: list[Reject]
    duplicates: int
    null_groups: int
    skipped_rule_events: int
    statuses: list[dict[str, Json]] = field(default_factory=list)
    exports: list[dict[str, Json]] = field(default_factory=list)
    counts: dict[int, Counts] = field(default_factory=dict)
    traces: list[dict[str, Json]] = field(default_factory=list)
    backfilled: int = 0
    shadow_alerts: list[dict[str, Json]] = field(default_factory=list)
