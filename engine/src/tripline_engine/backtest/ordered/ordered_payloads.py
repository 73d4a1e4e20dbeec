"""Transactions in the order of event times as payloads of shards, as the engine's own packing makes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tripline_contracts.rules.anchors import anchor_of
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.domain.memory.array_types import Uint16Array
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.kafka_log.record import Record
from tripline_engine.spark.rows.packing import shares

MASK = "mask"


def wanted_anchors(config: EngineConfig, rules: Sequence[TriedRule]) -> dict[str, bool]:
    """The anchors, each with whether a rule needs it."""
    needed = {anchor_of(rule.definition, config.event_type) for rule in rules}
    return {anchor: anchor in needed for anchor in config.event_type.all_anchors}


@dataclass(slots=True)
class OrderedPayloads:
    """Numbers transactions and ticks as if they had come in this order.

    :ivar anchors: by name, whether a rule needs it
    """

    config: EngineConfig
    anchors: dict[str, bool]
    _offset: int = 0
    _ticks: int = 0

    def opening(self, events: Sequence[Record], clock: int) -> list[Payload]:
        """What every shard takes before everything else."""
        published = [Payload(Kind.RULE_EVENT, event.value or b"", event.offset) for event in events]
        return [*published, self.tick(clock)]

    def tick(self, clock: int) -> Payload:
        """The record clock (ms)."""
        data = tick_payload(clock, json.dumps({"clock": clock}).encode())
        self._ticks += 1
        return Payload(Kind.TICK, data, self._ticks)

    def by_shard(self, table: pa.Table) -> Iterator[tuple[int, Payload]]:
        """The sorted transactions for each shard that takes some."""
        batch = self._numbered(table, np.zeros(table.num_rows, np.uint16))
        for shard, share in shares(self.config, batch, self.anchors):
            yield shard, Payload(Kind.TRANSACTIONS, b"", 0, share)

    def of_shard(self, table: pa.Table) -> Payload:
        """Sorted transactions that are one shard's, with their masks there."""
        return Payload(
            Kind.TRANSACTIONS, b"", 0, self._numbered(table, np.asarray(table.column(MASK).chunk(0)))
        )

    def _numbered(self, table: pa.Table, masks: Uint16Array) -> pa.RecordBatch:
        event_type = self.config.event_type
        times = table.column(event_type.time_field.name).chunk(0)
        offsets = np.arange(self._offset, self._offset + table.num_rows)
        self._offset += table.num_rows
        columns = {
            "partition": pa.array(np.zeros(table.num_rows, np.int32)),
            "offset": pa.array(offsets),
            "runningMax": times,
            "recordTime": times,
            MASK: pa.array(masks),
            **{field.name: table.column(field.name).chunk(0) for field in event_type.fields},
        }
        return pa.RecordBatch.from_pydict(columns)
