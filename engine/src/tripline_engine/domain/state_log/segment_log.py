"""The durable form of an anchor's history: compressed runs of accepted transactions in the state log.

Every micro-batch adds a small segment, or some. Compaction is incremental: a bounded piece of work at a time merges a
series of small segments into a larger one, and a segment expires when nothing can use what it holds. The first merge
compresses anew, later ones only join bytes; where those are many they stay where they are, and the merged segment is a
manifest, a page that lists the entries it consists of. Fields are dropped as soon as no rule can see them any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.state_log.segment import PruneBounds, Segment
from tripline_engine.domain.state_log.segment_codec import MARK, EntryForm, joined
from tripline_engine.domain.state_log.state_log import SEGMENT, StateLog
from tripline_engine.domain.transactions.columns import TransactionBatch


@dataclass(frozen=True, slots=True)
class SegmentTuning:
    """Sizes of segments, in transactions; tests make them small.

    :ivar fan_in: segments that are compacted into one
    :ivar max_rows: no segment with more rows than a ``fan_in``-th of this is compacted
    :ivar moved_rows: entries with more rows altogether are not written again when they are compacted: a megabyte to and
        fro between the shard and the state store would stall a micro-batch for a tenth of a second
    :ivar entry_rows: a large micro-batch is written in entries of that many: pruning one later is little work
    :ivar read_rows: rows are read back in runs of at least that many
    :ivar is_written: False: segments are known and not written, for a process that never reads any back
    """

    fan_in: int = 16
    max_rows: int = 1 << 18
    moved_rows: int = 1 << 15
    entry_rows: int = 1 << 13
    read_rows: int = 1 << 16
    is_written: bool = True


DEFAULT_TUNING: Final = SegmentTuning()
_EMPTY: Mapping[str, Any] = {"segments": [], "next": 0, "accepted": 0, "cleared": 0, "voided": []}


class SegmentLog:
    """The segments of one anchor, oldest first.

    :ivar accepted: how many transactions the anchor has ever accepted: the next one's sequence number
    :ivar cleared: transactions with a lower sequence number have been forgotten, but for their ids
    :ivar voided: those in the log that operators have declared void
    """

    def __init__(
        self,
        anchor: str,
        event_type: EventType,
        stored: Mapping[str, Any] = _EMPTY,
        tuning: SegmentTuning = DEFAULT_TUNING,
    ) -> None:
        self._anchor, self._event_type, self._tuning = anchor, event_type, tuning
        self._form = EntryForm(event_type)
        self.segments = [Segment.of_json(item) for item in stored["segments"]]
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

    def append(self, rows: TransactionBatch, log: StateLog) -> None:
        """Write accepted transactions."""
        if not len(rows):
            return
        if not self._tuning.is_written:
            self._add(len(rows), rows.time, rows.record_time)
            self.accepted += len(rows)
            return
        table = rows.table.select(self._form.schema.names)
        if rows.backfilled is not None:
            marks = pa.array(rows.backfilled, mask=~rows.backfilled)
            table = table.append_column(MARK, marks)
        for start in range(0, len(rows), self._tuning.entry_rows):
            part = slice(start, start + self._tuning.entry_rows)
            segment = self._add(len(rows.time[part]), rows.time[part], rows.record_time[part])
            log.put(self._key(segment), self._form.whole(table.slice(start, self._tuning.entry_rows)))
        self.accepted += len(rows)

    def _add(self, rows: int, times: Int64Array, record_times: Int64Array) -> Segment:
        segment = Segment(self._next, rows, 0, int(times.max()), int(record_times.max()))
        self.segments.append(segment)
        self._next += 1
        return segment

    def clear(self) -> None:
        """Forget all transactions but for their ids."""
        self.cleared = self.accepted

    def forget(self, log: StateLog) -> None:
        """Remove all segments; sequence numbers go on."""
        log.remove_all(
            sorted({self._key(part) for whole in self.segments for part in (whole, *self._parts(whole, log))})
        )
        self.segments, self.voided, self.cleared = [], [], self.accepted

    def void(self, sequences: Iterable[int], position: int, lateness_floor: int) -> None:
        """Declare the transactions with these sequence numbers void."""
        self.voided += [Voided(sequence, position, lateness_floor) for sequence in sequences]

    def compact(self, log: StateLog) -> bool:
        """Compact runs of small segments that are long enough, up to the first for which rows are written anew.

        Pages cost next to nothing: after a backlog there may be many to make.

        :returns: whether rows were written
        """
        while self._tuning.is_written and (index := self._first_compactable()) is not None:
            if not self._compact_from(index, log).is_manifest:
                return True
        return False

    def _compact_from(self, index: int, log: StateLog) -> Segment:
        """One segment in the place of those from that index on."""
        parts = self.segments[index : index + self._tuning.fan_in]
        rows = sum(part.rows for part in parts)
        merged = Segment(
            number=parts[0].number,
            rows=rows,
            level=parts[0].level + 1,
            newest=max(part.newest for part in parts),
            newest_record=max(part.newest_record for part in parts),
            dropped_fields=frozenset.intersection(*(part.dropped_fields for part in parts)),
            is_manifest=rows > self._tuning.moved_rows,
        )
        if merged.is_manifest:
            log.put(self._key(merged), _page(parts))
        else:
            log.put(self._key(merged), self._together(parts, merged, log))
            log.remove_all([self._key(part) for part in parts[1:]])
        self.segments[index : index + self._tuning.fan_in] = [merged]
        return merged

    def _together(self, parts: Sequence[Segment], merged: Segment, log: StateLog) -> bytes:
        if merged.level == 1:
            return self._form.apart(
                joined([self._form.read(data) for data in self._entries(parts, log)]), merged.dropped_fields
            )
        # compressed well enough: to do it again would stall a micro-batch and save nothing
        return b"".join(self._entries(parts, log))

    def prune(self, bounds: Mapping[str, PruneBounds], log: StateLog) -> int:
        """Drop, in the oldest entry that has such, the fields that nothing asks for; how many those were.

        :param bounds: by field
        """
        if not self._tuning.is_written:
            return 0
        highest, end = max((bound.time for bound in bounds.values()), default=0), self.first
        for index, segment in enumerate(self.segments):
            end += segment.rows
            if segment.newest >= highest and end > self.cleared:
                continue
            unneeded = {
                name
                for name in bounds.keys() - segment.dropped_fields
                if self._past(segment, end, bounds[name])
            }
            if unneeded:
                self.segments[index] = self._without(segment, unneeded, log)
                return len(unneeded)
        return 0

    def _without(self, segment: Segment, fields: AbstractSet[str], log: StateLog) -> Segment:
        """The segment without these fields; of a page they are dropped from the first of its parts that has such."""
        if segment.is_manifest:
            parts = self._parts(segment, log)
            having = [i for i, part in enumerate(parts) if fields - part.dropped_fields]
            if having:
                first = parts[having[0]]
                parts[having[0]] = self._without(first, fields - first.dropped_fields, log)
                log.put(self._key(segment), _page(parts))
            if len(having) > 1:
                return segment
        else:
            log.put(self._key(segment), self._form.without(self._entry(segment, log), fields))
        return replace(segment, dropped_fields=segment.dropped_fields | fields)

    def _past(self, segment: Segment, end: int, bound: PruneBounds) -> bool:
        """Whether the segment, which ends before that sequence number, is out of bound."""
        unseen = segment.newest < bound.time and end <= bound.sequence
        return (unseen or end <= self.cleared) and segment.newest_record < bound.record

    def expire(self, time_floor: int, id_floor: int, log: StateLog) -> None:
        """Remove the oldest segments whose transactions are out of every window and whose ids are forgotten."""
        expired, end = 0, self.first
        keys: set[str] = set()
        for segment in self.segments:
            end += segment.rows
            needed = segment.newest >= time_floor and end > self.cleared
            if needed or segment.newest_record >= id_floor:
                break
            keys |= {self._key(part) for part in (segment, *self._parts(segment, log))}
            expired += 1
        log.remove_all(sorted(keys))
        del self.segments[:expired]
        first = self.first
        self.voided = [void for void in self.voided if void.sequence >= first]

    @property
    def first(self) -> int:
        """The sequence number of the oldest transaction in the log."""
        return self.accepted - sum(segment.rows for segment in self.segments)

    def read(self, log: StateLog) -> Iterator[tuple[TransactionBatch, bool]]:
        """All transactions, oldest first, in runs; whether a run has been cleared."""
        start = self.first
        for parts in _runs(self._all_parts(log), self._tuning.read_rows):
            table = joined([self._form.read(data) for data in self._entries(parts, log)])
            count = min(max(self.cleared - start, 0), len(table))
            for piece, cleared in ((table.slice(0, count), True), (table.slice(count), False)):
                if piece.num_rows:
                    yield TransactionBatch.of(piece, self._event_type), cleared
            start += len(table)

    def _first_compactable(self) -> int | None:
        run_start, level = 0, -1
        for index, segment in enumerate(self.segments):
            if segment.is_manifest or segment.rows > self._tuning.max_rows // self._tuning.fan_in:
                run_start, level = index + 1, segment.level
                continue
            if segment.level != level:
                run_start, level = index, segment.level
            if index - run_start + 1 == self._tuning.fan_in:
                return run_start
        return None

    def _all_parts(self, log: StateLog) -> Iterator[Segment]:
        for segment in self.segments:
            yield from self._parts(segment, log)

    def _parts(self, segment: Segment, log: StateLog) -> list[Segment]:
        """The segments with transactions in their entries that it consists of, itself if it has them."""
        if not segment.is_manifest:
            return [segment]
        return [Segment.of_json(stored) for stored in msgspec.json.decode(self._entry(segment, log))]

    def _entry(self, segment: Segment, log: StateLog) -> bytes:
        """Its entry: a page, or runs, one after the other."""
        return self._entries([segment], log)[0]

    def _entries(self, segments: Sequence[Segment], log: StateLog) -> list[bytes]:
        keys = [self._key(segment) for segment in segments]
        entries = []
        for key, data in zip(keys, log.get_all(keys), strict=True):
            if data is None:
                raise LookupError(f"segment {key} is missing from the state log")
            entries.append(data)
        return entries

    def _key(self, segment: Segment) -> str:
        kind = "page/" if segment.is_manifest else SEGMENT
        return f"{kind}{self._anchor}/{segment.number}"


def _runs(parts: Iterable[Segment], rows: int) -> Iterator[list[Segment]]:
    """Parts to be read at once, of that many rows at least: each run costs what many rows cost."""
    run: list[Segment] = []
    for part in parts:
        run.append(part)
        if sum(segment.rows for segment in run) >= rows:
            yield run
            run = []
    if run:
        yield run


def _page(parts: Sequence[Segment]) -> bytes:
    return msgspec.json.encode([part.to_json() for part in parts])
