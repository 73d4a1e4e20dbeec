"""The durable form of an anchor's history: compressed runs of accepted transactions in the state log.

Every micro-batch adds a small one; runs of small ones are merged into larger ones, a bounded piece of work at a
time, and one goes when all it holds is past every use. The first merge compresses anew, later ones only join bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.records import BACKFILL, StateLog
from tripline_engine.domain.rows import Rows, segment_schema

_FAN_IN = 16
_MAX_ROWS = 1 << 18
# Threads would cost more than they save: a shard has one core.
_READ = pa.ipc.IpcReadOptions(use_threads=False)
# Small segments are written with every micro-batch and soon merged; what is merged once stays as it is.
_QUICK = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
# A column that a run has only where some of it was backfilled.
_MARK = pa.field(BACKFILL, pa.bool_())
_DENSE = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)


@dataclass(frozen=True, slots=True)
class Segment:
    """One run in the log.

    :ivar number: grows along the log of the anchor
    :ivar level: how often it has been merged
    :ivar newest: the latest event time in it, ms
    :ivar newest_record: the latest record time in it, ms
    """

    number: int
    rows: int
    level: int
    newest: int
    newest_record: int

    def to_json(self) -> list[int]:
        """As stored in the head record."""
        return [self.number, self.rows, self.level, self.newest, self.newest_record]


class Voided(NamedTuple):
    """A transaction that is void.

    :ivar position: of the command
    :ivar lateness_floor: as it was then, ms: of what stood singly then nothing is left in buckets either
    """

    sequence: int
    position: int
    lateness_floor: int


_EMPTY: Mapping[str, Any] = {"segments": [], "next": 0, "accepted": 0, "cleared": 0, "voided": []}


class SegmentLog:
    """The segments of one anchor, oldest first.

    :ivar accepted: how many transactions the anchor has ever accepted: the next one's sequence number
    :ivar cleared: transactions with a lower sequence number have been forgotten, but for their ids
    :ivar voided: those in the log that operators have declared void
    """

    def __init__(self, anchor: str, event_type: EventType, stored: Mapping[str, Any] = _EMPTY) -> None:
        self._anchor, self._event_type = anchor, event_type
        self._schema = segment_schema(event_type)
        self.segments = [Segment(*item) for item in stored["segments"]]
        self._next: int = stored["next"]
        self.accepted: int = stored["accepted"]
        self.cleared: int = stored["cleared"]
        # logs that were written before there were such commands have none
        self.voided = [Voided(*item) for item in stored.get("voided", [])]

    def to_json(self) -> dict[str, Any]:
        """As stored in the head record."""
        return {
            "segments": [segment.to_json() for segment in self.segments],
            "next": self._next,
            "accepted": self.accepted,
            "cleared": self.cleared,
            "voided": self.voided,
        }

    def append(self, rows: Rows, log: StateLog) -> None:
        """Write accepted transactions."""
        if len(rows):
            table = rows.table.select(self._schema.names)
            if rows.backfilled is not None:
                marks = pa.array(rows.backfilled, mask=~rows.backfilled)
                table = table.append_column(_MARK, marks)
            newest, newest_record = int(rows.time.max()), int(rows.record_time.max())
            self.segments.append(
                self._write(table, Segment(self._next, len(rows), 0, newest, newest_record), log)
            )
            self._next += 1
            self.accepted += len(rows)

    def clear(self) -> None:
        """Forget all transactions but for their ids."""
        self.cleared = self.accepted

    def void(self, sequences: Iterable[int], position: int, lateness_floor: int) -> None:
        """Declare the transactions with these sequence numbers void."""
        self.voided += [Voided(sequence, position, lateness_floor) for sequence in sequences]

    def merge(self, log: StateLog) -> bool:
        """Merge the first run of small segments that is long enough; whether there was one."""
        at = self._mergeable()
        if at is None:
            return False
        parts = self.segments[at : at + _FAN_IN]
        merged = Segment(
            number=parts[0].number,
            rows=sum(part.rows for part in parts),
            level=parts[0].level + 1,
            newest=max(part.newest for part in parts),
            newest_record=max(part.newest_record for part in parts),
        )
        if merged.level == 1:
            self._write(_joined([self._read(part, log) for part in parts]), merged, log)
        else:
            # compressed well enough: to do it again would hold up a micro-batch and save nothing
            log.put(self._key(merged), b"".join(self._data(part, log) for part in parts))
        for part in parts[1:]:
            log.remove(self._key(part))
        self.segments[at : at + _FAN_IN] = [merged]
        return True

    def expire(self, time_floor: int, id_floor: int, log: StateLog) -> None:
        """Remove the oldest segments whose transactions are out of every window and whose ids are forgotten."""
        gone, end = 0, self.first
        for segment in self.segments:
            end += segment.rows
            needed = segment.newest >= time_floor and end > self.cleared
            if needed or segment.newest_record >= id_floor:
                break
            log.remove(self._key(segment))
            gone += 1
        del self.segments[:gone]
        first = self.first
        self.voided = [each for each in self.voided if each.sequence >= first]

    @property
    def first(self) -> int:
        """The sequence number of the oldest transaction in the log."""
        return self.accepted - sum(segment.rows for segment in self.segments)

    def read(self, log: StateLog) -> Iterator[tuple[Rows, bool]]:
        """All transactions, oldest first, in runs; whether a run has been cleared."""
        start = self.first
        for segment in self.segments:
            table = self._read(segment, log)
            gone = min(max(self.cleared - start, 0), segment.rows)
            for part, cleared in ((table.slice(0, gone), True), (table.slice(gone), False)):
                if part.num_rows:
                    yield Rows.of(part, self._event_type), cleared
            start += segment.rows

    def _mergeable(self) -> int | None:
        run_start, level = 0, -1
        for at, segment in enumerate(self.segments):
            if segment.level != level or segment.rows > _MAX_ROWS // _FAN_IN:
                run_start, level = at, segment.level
            if segment.rows <= _MAX_ROWS // _FAN_IN and at - run_start + 1 == _FAN_IN:
                return run_start
        return None

    def _write(self, table: pa.Table, segment: Segment, log: StateLog) -> Segment:
        sink = pa.BufferOutputStream()
        options = _DENSE if segment.level else _QUICK
        schema = self._schema.append(_MARK) if BACKFILL in table.column_names else self._schema
        with pa.ipc.new_stream(sink, schema, options=options) as writer:
            writer.write_table(table.cast(schema).combine_chunks())
        log.put(self._key(segment), sink.getvalue().to_pybytes())
        return segment

    def _read(self, segment: Segment, log: StateLog) -> pa.Table:
        source, streams = pa.BufferReader(self._data(segment, log)), []
        while source.tell() < source.size():
            streams.append(pa.ipc.open_stream(source, options=_READ).read_all())
        return _joined(streams).combine_chunks()

    def _data(self, segment: Segment, log: StateLog) -> bytes:
        """Arrow streams, one after the other."""
        data = log.get(self._key(segment))
        if data is None:
            raise LookupError(f"segment {self._key(segment)} is missing from the state log")
        return data

    def _key(self, segment: Segment) -> str:
        return f"segment/{self._anchor}/{segment.number}"


def _joined(tables: list[pa.Table]) -> pa.Table:
    """One after the other; a column that only some have is null in the others."""
    return pa.concat_tables(tables, promote_options="default")
