"""The engine without Spark: the same packing and shard workers, fed with micro-batches by hand."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.oracle.values.model import MicroBatch, Record
from tripline_contracts.event_type import EventType
from tripline_contracts.event_type_loader import load
from tripline_engine.domain.shard.engine_config import Clock, EngineConfig
from tripline_engine.domain.shard.ports import Kind, OutRecord, Payload
from tripline_engine.domain.shard.projection import Projection
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.state_log.state_log import LARGE_ONES
from tripline_engine.spark.rows.packing import packer
from tripline_engine.spark.rows.shard_keys import shard_keys

TRANSACTION = load("transaction")
RULE_COUNTERS = (
    "evaluations",
    "equal_times",
    "late_evaluated",
    "late_stored",
    "reevaluated",
    "null_groups",
    "duplicates",
)


class DictLog:
    """A state log in memory that commits or forgets, as Spark's state store does.

    What may be large has to be read, in the same micro-batch, before it is put a second time.
    """

    def __init__(self) -> None:
        self.committed: dict[str, bytes] = {}
        self._changed = dict(self.committed)
        self._read: set[str] = set()

    def get(self, key: str) -> bytes | None:
        self._read.add(key)
        return self._changed.get(key)

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        return [self.get(key) for key in keys]

    def put(self, key: str, data: bytes) -> None:
        unread = key in self.committed and key not in self._read
        assert not (unread and key.startswith(LARGE_ONES)), f"{key} is put again and has not been read"
        self._changed[key] = data

    def remove(self, key: str) -> None:
        self._changed.pop(key, None)

    def remove_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.remove(key)

    def items(self) -> Iterator[tuple[str, bytes]]:
        yield from list(self._changed.items())

    def commit(self) -> None:
        self.committed = dict(self._changed)
        self._read.clear()

    def abort(self) -> None:
        self._changed = dict(self.committed)
        self._read.clear()

    @property
    def bytes(self) -> int:
        return sum(map(len, self.committed.values()))


def config(shards: int, event_type: EventType = TRANSACTION, clock: Clock = "data") -> EngineConfig:
    return EngineConfig("engine-under-test", event_type, event_type.anchors, shards, (11, 22), clock)


def keeping(event_type: EventType, anchors: Collection[str]) -> EventType:
    """The type with these anchors kept from the start, whether rules need them or not."""
    return replace(event_type, kept_anchors=tuple(name for name in event_type.anchors if name in anchors))


KEEPING_ALL = keeping(TRANSACTION, TRANSACTION.anchors)


@dataclass
class Engine:
    """N shards with their state logs; projections in memory, or mapped below a directory."""

    shards: int = 1
    directory: Path | None = None
    logs: list[DictLog] = field(default_factory=list)
    out: list[OutRecord] = field(default_factory=list)
    counters: Counter[str] = field(default_factory=Counter)
    event_type: EventType = TRANSACTION
    tuning: ShardTuning = DEFAULT_TUNING
    clock: Clock = "data"

    def __post_init__(self) -> None:
        self.config = config(self.shards, self.event_type, self.clock)
        self.logs = [DictLog() for _ in range(self.shards)]
        self._workers: list[Attached] = [{}, {}]
        self._gauges: list[Counter[str]] = [Counter() for _ in range(self.shards)]
        self._offsets = {Kind.RULE_EVENT: 0, Kind.TICK: 0}
        self._needed: frozenset[str] | None = None

    def forget(self) -> None:
        """Lose what is in memory, and the mapped files, as when the machine is another."""
        for worker in self._workers:
            worker.clear()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def restart_workers(self) -> None:
        """End the worker processes; their mapped files stay."""
        for worker in self._workers:
            worker.clear()

    def change_worker(self) -> None:
        """Let the other of two worker processes, which has mappings of its own, serve the next micro-batch."""
        if self.directory:
            self._workers.reverse()

    def fail(self, batch: MicroBatch) -> None:
        """Do all the work of a micro-batch and lose it before it is committed."""
        offsets = dict(self._offsets)
        for shard, payloads in enumerate(self.payloads(batch)):
            if payloads:
                self.attempt(shard, payloads)
                self.logs[shard].abort()
        self._offsets = offsets

    def run(self, batches: Iterable[MicroBatch]) -> list[dict[str, Any]]:
        for batch in batches:
            self.take(batch)
        return self.alerts()

    def take(self, batch: MicroBatch) -> None:
        payloads = self.payloads(batch)
        for shard in range(self.shards):
            if payloads[shard]:
                records, counters = self.attempt(shard, payloads[shard])
                self.logs[shard].commit()
                self.out += records
                self.counters.update(counters)
                self._gauges[shard] = counters
                self._needed = frozenset(
                    anchor
                    for index, anchor in enumerate(self.event_type.all_anchors)
                    if counters["needed_anchors"] >> index & 1
                )

    def attempt(self, shard: int, payloads: list[Payload]) -> tuple[list[OutRecord], Counter[str]]:
        """One shard's task, before its state is committed."""
        attached = self._workers[0]
        worker = ShardWorker(
            self.config, shard, self.logs[shard], self.directory, lambda: 0, attached, self.tuning
        )
        return worker.process(payloads), worker.counters

    def payloads(self, batch: MicroBatch) -> list[list[Payload]]:
        broadcast = self._offered(Kind.RULE_EVENT, batch.rule_events) + self._offered(Kind.TICK, batch.ticks)
        by_shard = [list(broadcast) for _ in range(self.shards)]
        shard_of = {key: shard for shard, key in enumerate(shard_keys(self.shards))}
        # as by the driver's note: what was needed before is all there is to need, unless rule events come
        wanted = None if batch.rule_events else self._needed
        for part in _partitions(batch.records):
            for packed in packer(self.config, wanted=lambda: wanted)(iter([part])):
                for row in packed.to_pylist():
                    payload = Payload(Kind(row["kind"]), row["payload"], row["position"])
                    by_shard[shard_of[row["shardKey"]]].append(payload)
        return by_shard

    def history_rows(self) -> list[int]:
        """Transactions held, by shard, at its last micro-batch."""
        return self.gauge("history_rows")

    def history_bytes(self) -> list[int]:
        """Size of the arrays that hold them."""
        return self.gauge("history_bytes")

    def gauge(self, name: str) -> list[int]:
        """What each shard counted at its last micro-batch."""
        return [gauges[name] for gauges in self._gauges]

    def projection(self, shard: int) -> Projection:
        """What the worker that served last has attached to."""
        return next(worker for (_, number), worker in self._workers[0].items() if number == shard)

    def alerts(self, topic: str = "alerts.v1") -> list[dict[str, Any]]:
        alerts = [json.loads(record.value) for record in self.out if record.topic == topic]
        for alert in alerts:
            del alert["detectedAt"]
        return alerts

    def traces(self) -> list[dict[str, Any]]:
        return [json.loads(record.value) for record in self.out if record.topic == "rule-traces.v1"]

    def rejects(self) -> list[tuple[int, int, str]]:
        headers = [dict(record.headers) for record in self.out if record.topic == "rejected-transactions.v1"]
        return [
            (int(header["partition"]), int(header["offset"]), header["reason"].decode()) for header in headers
        ]

    def statuses(self) -> list[dict[str, Any]]:
        """What every shard says of the rule events it has taken; all say the same."""
        return self._said_by_all("RuleApplied", ("shard", "shards", "appliedAt"))

    def exports(self) -> list[dict[str, Any]]:
        """The rules that every shard holds at each export."""
        return self._said_by_all("RulesExported", ("shard", "shards", "exportedAt"))

    def counts(self) -> dict[int, dict[str, int]]:
        """What was counted of each rule."""
        by_rule: dict[int, dict[str, int]] = {}
        for name, count in self.counters.items():
            what, _, rule = name.removeprefix("rule_").partition(":")
            if what in RULE_COUNTERS and rule:
                by_rule.setdefault(int(rule), dict.fromkeys(RULE_COUNTERS, 0))[what] = count
        return {rule: counts for rule, counts in sorted(by_rule.items()) if any(counts.values())}

    def _said_by_all(self, kind: str, members: tuple[str, ...]) -> list[dict[str, Any]]:
        said: list[list[dict[str, Any]]] = [[] for _ in range(self.shards)]
        for record in self.out:
            if (
                record.topic == "rule-status.v1"
                and dict(record.headers)["ce_type"] == f"tripline.{kind}.v1".encode()
            ):
                value = json.loads(record.value)
                said[value["shard"]].append({k: v for k, v in value.items() if k not in members})
        assert all(records == said[0] for records in said)
        return said[0]

    def _offered(self, kind: Kind, values: Iterable[bytes]) -> list[Payload]:
        payloads = []
        for value in values:
            # the clock is that of old data: the time of a tick's record says nothing
            data = tick_payload(0, value) if kind == Kind.TICK else value
            payloads.append(Payload(kind, data, self._offsets[kind]))
            self._offsets[kind] += 1
        return payloads


def _partitions(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    parts: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        parts[record.partition].append(record)
    for partition, part in sorted(parts.items()):
        ordered = sorted(part, key=lambda record: record.offset)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([partition] * len(ordered), pa.int32()),
                pa.array([record.offset for record in ordered], pa.int64()),
                pa.array([record.record_time for record in ordered], pa.int64()),
                pa.array([record.value for record in ordered], pa.binary()),
                pa.array([_header(record) for record in ordered], pa.binary()),
            ],
            ["partition", "offset", "recordTime", "value", "backfill"],
        )


def _header(record: Record) -> bytes | None:
    return None if record.backfill is None else record.backfill.encode()
