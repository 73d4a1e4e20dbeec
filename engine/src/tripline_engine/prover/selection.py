"""The selected transactions of one recorded micro-batch: those that bear on a proof, in the engine's order.

The order of all transactions of a micro-batch goes by the running maximum of the record time in their partition. So it
is computed over all of them, before any is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import GLOBAL_ANCHOR
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Payload
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.kafka_log.record import Record
from tripline_engine.spark.rows.packing import Slice, pack_slice

Values = Mapping[str, Collection[str]]
"""By anchor, the values whose transactions are selected, on any side of a party; the global anchor selects all."""


@dataclass(frozen=True, slots=True)
class Selected:
    """One selected transaction: its record, and its place in the order of its micro-batch."""

    record: Record
    running_max: int
    transaction_id: str
    event_time: int

    @property
    def order(self) -> tuple[int, int, int]:
        """Comparable within a micro-batch."""
        return self.running_max, self.record.partition, self.record.offset


class Selector:
    """Selects transactions by their anchors' values, and packs them for one shard."""

    def __init__(self, config: EngineConfig, values: Values) -> None:
        self._config, self._parser = config, Parser(config.event_type)
        self._anchors = dict.fromkeys(config.event_type.all_anchors, True)
        self._every = GLOBAL_ANCHOR in values
        parties = {party.name: party.fields for party in config.event_type.parties}
        self._values = [
            (field, value)
            for name, chosen in values.items()
            if name != GLOBAL_ANCHOR
            for field in parties.get(name, (name,))
            for value in chosen
        ]

    def of(self, parts: Iterable[Sequence[Record]]) -> list[Selected]:
        """Those of the partitions' records that are selected, in the engine's order."""
        selected = [one for records in parts if records for one in self._of_partition(records)]
        return sorted(selected, key=lambda one: one.order)

    def _of_partition(self, records: Sequence[Record]) -> list[Selected]:
        event_type = self._config.event_type
        parsed = self._parser.parse(pa.array([record.value for record in records], pa.binary()))
        if not len(parsed.rows):
            return []
        chosen = np.ones(len(parsed.rows), np.bool_) if self._every else self._chosen(parsed.columns)
        if not chosen.any():
            return []
        running = np.maximum.accumulate([record.timestamp for record in records])
        mask = pa.array(chosen)
        ids = parsed.columns[event_type.id_field.name].filter(mask).to_pylist()
        times = parsed.columns[event_type.time_field.name].filter(mask).to_pylist()
        rows = parsed.rows[chosen].tolist()
        return [
            Selected(records[row], int(running[row]), transaction_id, time)
            for row, transaction_id, time in zip(rows, ids, times, strict=True)
        ]

    def _chosen(self, columns: Mapping[str, pa.Array]) -> npt.NDArray[np.bool_]:
        chosen = np.zeros(len(next(iter(columns.values()))), np.bool_)
        for name, value in self._values:
            equal = pc.fill_null(pc.equal(columns[name].cast(pa.string()), value), False)
            chosen |= np.array(equal)
        return chosen

    def payloads(self, selected: Sequence[Selected]) -> list[Payload]:
        """Payloads for the only shard, as packing makes them."""
        by_partition: dict[int, list[Selected]] = {}
        for one in selected:
            by_partition.setdefault(one.record.partition, []).append(one)
        return [
            Payload(kind, data, 0)
            for partition, rows in by_partition.items()
            for _, kind, data in pack_slice(
                self._config, self._parser, _slice(partition, rows), self._anchors
            )
        ]


def _slice(partition: int, rows: Sequence[Selected]) -> Slice:
    names = [backfill_of(row.record) for row in rows]
    return Slice(
        partition=partition,
        offsets=np.array([row.record.offset for row in rows], np.int64),
        record_times=np.array([row.record.timestamp for row in rows], np.int64),
        running_max=np.array([row.running_max for row in rows], np.int64),
        values=pa.array([row.record.value for row in rows], pa.binary()),
        backfills=pa.array(names, pa.string()) if any(name is not None for name in names) else None,
        cuts={},
    )


def backfill_of(record: Record) -> str | None:
    """The name of the record's backfill, empty if it has no value, as packing reads it."""
    for name, data in record.headers:
        if name == BACKFILL:
            return (data or b"").decode(errors="replace")
    return None
