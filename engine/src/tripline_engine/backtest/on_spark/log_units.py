"""Topic and archive as a source of units: each machine reads them by itself, with the same settings.

Kafka's password is in none of what tasks are told: they have the name of its file, as the stream's workers have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from tripline_engine.archive.journal import Journal
from tripline_engine.backtest.history import History
from tripline_engine.backtest.on_spark.grid_tasks import packed_runs
from tripline_engine.backtest.on_spark.work import EARLIER, PACKED, Work, rows_of
from tripline_engine.backtest.ordered.known_today import Known
from tripline_engine.backtest.tried import Knowledge
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.rebuild.journals import Journals
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.topic_names import TRANSACTIONS

UNIT_OFFSETS: Final = 1 << 18
"""Offsets that one task reads, about: so many that its start does not count."""
_RUN_ROWS: Final = 1 << 16

Reopen = Callable[[], AbstractContextManager[Journals]]
"""Opens journals, that of transactions.v1 among them, on whatever machine it is called."""


@dataclass(frozen=True, slots=True)
class Logs:
    """A history from topic and archive.

    :ivar journals: open, here
    :ivar reopen: as tasks do
    """

    history: History
    journals: Journals
    reopen: Reopen
    knowledge: Knowledge = "as-it-was"


@dataclass(frozen=True, slots=True)
class LogUnits:
    """A source of units for what is known today: ranges of offsets of transactions.v1.

    :ivar units: partitions, each with offsets
    """

    reopen: Reopen
    known: Known
    units: tuple[tuple[int, OffsetRange], ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.units)

    def packed(self, work: Work, unit: int) -> Iterator[pa.RecordBatch]:
        """A unit's runs of transactions that count, and whether there were earlier ones."""
        partition, offsets = self.units[unit]
        reader = self.known.reader(work.config.event_type, work.span)
        pending: list[pa.Table] = []
        with self.reopen() as journals:
            journal = journals[TRANSACTIONS].up_to({partition: offsets.until})
            for records in journal.runs(partition, offsets.first):
                pending += reader.known(records)
                if sum(table.num_rows for table in pending) >= _RUN_ROWS:
                    yield from packed_runs(work, pa.concat_tables(pending))
                    pending = []
        if pending:
            yield from packed_runs(work, pa.concat_tables(pending))
        if reader.left_out:
            yield rows_of(PACKED, [(key, EARLIER, 0, b"") for key in shard_keys(work.config.shards)])


def log_units(journal: Journal, first: Mapping[int, int]) -> list[tuple[int, OffsetRange]]:
    """All of a topic from these offsets on, by partition, as it is now."""
    units: list[tuple[int, OffsetRange]] = []
    for partition in journal.topic.partitions():
        begin, end = first.get(partition, 0), journal.end(partition)
        # one without records is a unit: no job is without any
        units += [
            (partition, OffsetRange(start, min(start + UNIT_OFFSETS, max(end, begin))))
            for start in range(begin, max(end, begin + 1), UNIT_OFFSETS)
        ]
    return units
