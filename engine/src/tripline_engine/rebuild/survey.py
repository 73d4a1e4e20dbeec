"""The whole recorded order of one engine at a glance: how many micro-batches, from where to where in each topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tripline_engine.archive.journal import Journal
from tripline_engine.errors import OrderBroken
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.recorded_order import RecordedBatch, RecordedRange, order_of, read_recorded
from tripline_engine.topic_names import RULES, TICKS, TRANSACTIONS

PartitionKey = tuple[str, int]
"""A topic by the contract's name, and a partition."""


@dataclass(slots=True)
class Survey:
    """What the order of one engine says.

    :ivar last: its last micro-batch
    :ivar judged: by topic and partition, what it has taken from first to last
    :ivar max_record_times: by partition of transactions.v1, the highest record time (ms)
    :ivar left_out: by partition, the highest record time before what is still there; absent where all is
    """

    last: RecordedBatch
    judged: dict[PartitionKey, OffsetRange] = field(default_factory=dict)
    max_record_times: dict[int, int] = field(default_factory=dict)
    left_out: dict[int, int] = field(default_factory=dict)

    def take(self, recorded: RecordedBatch, available: Mapping[int, int]) -> None:
        """The next micro-batch; `available` is where, by partition, what is there without gap begins."""
        self.last = recorded
        for topic, taken in ((RULES, recorded.rules), (TICKS, recorded.ticks)):
            if taken:
                self._extend((topic, 0), taken)
        for part in recorded.transactions:
            self._extend((TRANSACTIONS, part.partition), RecordedRange(part.first, part.until))
            _raise(self.max_record_times, part.partition, part.max_record_time)
            if part.first < available.get(part.partition, 0):
                _raise(self.left_out, part.partition, part.max_record_time)

    def _extend(self, place: PartitionKey, taken: RecordedRange) -> None:
        first = self.judged[place].first if place in self.judged else taken.first
        self.judged[place] = OffsetRange(first, taken.until)


def all_records(journal: Journal) -> Iterator[Record]:
    """Everything of a topic with one partition, as far back as it goes."""
    found = journal.available_ranges(0)
    for run in journal.runs(0, found[0].first) if found else ():
        yield from run


def survey(order: Journal, engine: str | None, available: Mapping[int, int]) -> Survey:
    """Of that engine; without one, of that of the newest record. Raises OrderBroken."""
    wanted = engine or _newest(order)
    found: Survey | None = None
    for recorded in order_of(wanted, all_records(order)):
        found = found or Survey(recorded)
        found.take(recorded, available)
    if found is None:
        raise OrderBroken(
            f"{order.topic.name}: no micro-batch of engine {wanted}; there are {_engines(all_records(order))}"
        )
    return found


def _newest(order: Journal) -> str:
    last = order.last(0)
    if last is None:
        raise OrderBroken(f"{order.topic.name} is empty: no engine has recorded anything")
    recorded = read_recorded(last.value)
    if recorded is None:
        raise OrderBroken(f"{order.topic.name}: the last record can't be read; name the engine (--engine)")
    return recorded.engine


def _engines(records: Iterable[Record]) -> str:
    found = [read_recorded(record.value) for record in records]
    return ", ".join(sorted({recorded.engine for recorded in found if recorded})) or "none"


def _raise(highest: dict[int, int], partition: int, time: int) -> None:
    highest[partition] = max(highest.get(partition, time), time)
