"""The durable form of an anchor's history: compressed runs of accepted transactions in the state log.

Every micro-batch adds a small one, or some. Series of small ones are merged into larger ones, a bounded piece of work
at a time, and one goes when all it holds is past every use. The first merge compresses anew, later ones only join
bytes; where those are many they stay where they are, and the merged segment is a page that says which entries it
consists of. Fields go before that, as soon as no rule can see them any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.state_log.segment_codec import MARK, EntryForm, joined
from tripline_engine.domain.state_log.state_log import SEGMENT, StateLog
from tripline_engine.domain.transactions.columns import TransactionBatch

_FAN_IN = 16
_MAX_ROWS = 1 << 18
# Entries with more rows than that altogether are not written again when they are merged: a megabyte to and fro between
# the shard and the state store would hold up a micro-batch for a tenth of a second.
_MOVED_ROWS = 1 << 15
# A large micro-batch is written in entries of so many rows: what prunes one later has little to do at a time.
_ENTRY_ROWS = 1 << 13
# So many rows are read back at a time, and those of one entry more.
_READ_ROWS = 1 << 16
_EVERYTHING: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Segment:
    """One run in the log.

    :ivar number: grows along the log of the anchor
    :ivar level: how often it has been merged
    :ivar newest: the latest event time in it, ms
    :ivar newest_record: the latest record time in it, ms
    :ivar gone: the fields that none of it has any more
    :ivar paged: whether its entry is a page: the segments, in order, that it consists of
    """

    number: int
    rows: int
    level: int
    newest: int
    newest_record: int
    gone: frozenset[str] = frozenset()
    paged: bool = False

    def to_json(self) -> list[Any]:
        """As stored in the head record."""
        stored = [self.number, self.rows, self.level, self.newest, self.newest_record]
        if self.paged:
            return [*stored, sorted(self.gone), True]
        return [*stored, sorted(self.gone)] if self.gone else stored

    @staticmethod
    def of_json(stored: list[Any]) -> Segment:
        """As ``to_json`` gave it."""
        number, rows, level, newest, newest_record, *more = stored
        return Segment(number, rows, level, newest, newest_record, frozenset(*more[:1]), len(more) > 1)


class PruneBounds(NamedTuple):
    """Up to where nothing asks for a field any more.

    :ivar time: no rule, present or to come, can see it in what has a lower event time, ms
    :ivar sequence: and no bucket set has to read it in what has a lower sequence number
    :ivar record: and no remembered id rests on it in what has a lower record time, ms
    """

    time: int
    sequence: int = _EVERYTHING
    record: int = _EVERYTHING


_EMPTY: Mapping[str, Any] = {"segments": [], "next": 0, "accepted": 0, "cleared": 0, "voided": []}


class SegmentLog:
    """The segments of one anchor, oldest first.

    :ivar accepted: how many transactions the anchor has ever accepted: the next one's sequence number
    :ivar cleared: transactions with a lower sequence number have been forgotten, but for their ids
    :ivar voided: those in the log that operators have declared void
    """

    def __init__(self, anchor: str, event_type: EventType, stored: Mapping[str, Any] = _EMPTY) -> None:
        self._anchor, self._event_type = anchor, event_type
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
        table = rows.table.select(self._form.schema.names)
        if rows.backfilled is not None:
            marks = pa.array(rows.backfilled, mask=~rows.backfilled)
            table = table.append_column(MARK, marks)
        for start in range(0, len(rows), _ENTRY_ROWS):
            part = slice(start, start + _ENTRY_ROWS)
            times, record_times = rows.time[part], rows.record_time[part]
            segment = Segment(self._next, len(times), 0, int(times.max()), int(record_times.max()))
            log.put(self._key(segment), self._form.whole(table.slice(start, _ENTRY_ROWS)))
            self.segments.append(segment)
            self._next += 1
        self.accepted += len(rows)

    def clear(self) -> None:
        """Forget all transactions but for their ids."""
        self.cleared = self.accepted

    def void(self, sequences: Iterable[int], position: int, lateness_floor: int) -> None:
        """Declare the transactions with these sequence numbers void."""
        self.voided += [Voided(sequence, position, lateness_floor) for sequence in sequences]

    def merge(self, log: StateLog) -> bool:
        """Merge runs of small segments that are long enough, up to the first for which rows are written anew.

        Pages cost next to nothing: after a backlog there may be many to make.

        :returns: whether rows were written
        """
        while (at := self._mergeable()) is not None:
            if not self._merge_from(at, log).paged:
                return True
        return False

    def _merge_from(self, at: int, log: StateLog) -> Segment:
        """One segment in the place of those from that place on."""
        parts = self.segments[at : at + _FAN_IN]
        rows = sum(part.rows for part in parts)
        merged = Segment(
            number=parts[0].number,
            rows=rows,
            level=parts[0].level + 1,
            newest=max(part.newest for part in parts),
            newest_record=max(part.newest_record for part in parts),
            gone=frozenset.intersection(*(part.gone for part in parts)),
            paged=rows > _MOVED_ROWS,
        )
        if merged.paged:
            log.put(self._key(merged), _page(parts))
        else:
            log.put(self._key(merged), self._together(parts, merged, log))
            log.remove_all([self._key(part) for part in parts[1:]])
        self.segments[at : at + _FAN_IN] = [merged]
        return merged

    def _together(self, parts: Sequence[Segment], merged: Segment, log: StateLog) -> bytes:
        if merged.level == 1:
            return self._form.apart(
                joined([self._form.read(data) for data in self._datas(parts, log)]), merged.gone
            )
        # compressed well enough: to do it again would hold up a micro-batch and save nothing
        return b"".join(self._datas(parts, log))

    def prune(self, reaches: Mapping[str, PruneBounds], log: StateLog) -> int:
        """Give up, in the oldest entry that has such, the fields that nothing asks for; how many those were.

        :param reaches: by field
        """
        highest, end = max((reach.time for reach in reaches.values()), default=0), self.first
        for at, segment in enumerate(self.segments):
            end += segment.rows
            if segment.newest >= highest and end > self.cleared:
                continue
            unneeded = {
                name for name in reaches.keys() - segment.gone if self._past(segment, end, reaches[name])
            }
            if unneeded:
                self.segments[at] = self._without(segment, unneeded, log)
                return len(unneeded)
        return 0

    def _without(self, segment: Segment, fields: AbstractSet[str], log: StateLog) -> Segment:
        """The segment after these fields have gone; of a page from the first of its parts that has such."""
        if segment.paged:
            parts = self._parts(segment, log)
            having = [at for at, part in enumerate(parts) if fields - part.gone]
            if having:
                first = parts[having[0]]
                parts[having[0]] = self._without(first, fields - first.gone, log)
                log.put(self._key(segment), _page(parts))
            if len(having) > 1:
                return segment
        else:
            log.put(self._key(segment), self._form.without(self._data(segment, log), fields))
        return replace(segment, gone=segment.gone | fields)

    def _past(self, segment: Segment, end: int, reach: PruneBounds) -> bool:
        """Whether the segment, which ends before that sequence number, is out of reach."""
        unseen = segment.newest < reach.time and end <= reach.sequence
        return (unseen or end <= self.cleared) and segment.newest_record < reach.record

    def expire(self, time_floor: int, id_floor: int, log: StateLog) -> None:
        """Remove the oldest segments whose transactions are out of every window and whose ids are forgotten."""
        gone, end = 0, self.first
        keys: set[str] = set()
        for segment in self.segments:
            end += segment.rows
            needed = segment.newest >= time_floor and end > self.cleared
            if needed or segment.newest_record >= id_floor:
                break
            keys |= {self._key(each) for each in (segment, *self._parts(segment, log))}
            gone += 1
        log.remove_all(sorted(keys))
        del self.segments[:gone]
        first = self.first
        self.voided = [each for each in self.voided if each.sequence >= first]

    @property
    def first(self) -> int:
        """The sequence number of the oldest transaction in the log."""
        return self.accepted - sum(segment.rows for segment in self.segments)

    def read(self, log: StateLog) -> Iterator[tuple[TransactionBatch, bool]]:
        """All transactions, oldest first, in runs; whether a run has been cleared."""
        start = self.first
        for parts in _runs(part for each in self.segments for part in self._parts(each, log)):
            table = joined([self._form.read(data) for data in self._datas(parts, log)])
            gone = min(max(self.cleared - start, 0), len(table))
            for piece, cleared in ((table.slice(0, gone), True), (table.slice(gone), False)):
                if piece.num_rows:
                    yield TransactionBatch.of(piece, self._event_type), cleared
            start += len(table)

    def _mergeable(self) -> int | None:
        run_start, level = 0, -1
        for at, segment in enumerate(self.segments):
            if segment.paged or segment.rows > _MAX_ROWS // _FAN_IN:
                run_start, level = at + 1, segment.level
                continue
            if segment.level != level:
                run_start, level = at, segment.level
            if at - run_start + 1 == _FAN_IN:
                return run_start
        return None

    def _parts(self, segment: Segment, log: StateLog) -> list[Segment]:
        """The segments with transactions in their entries that it consists of, itself if it has them."""
        if not segment.paged:
            return [segment]
        return [Segment.of_json(stored) for stored in msgspec.json.decode(self._data(segment, log))]

    def _data(self, segment: Segment, log: StateLog) -> bytes:
        """Its entry: a page, or runs, one after the other."""
        return self._datas([segment], log)[0]

    def _datas(self, segments: Sequence[Segment], log: StateLog) -> list[bytes]:
        keys = [self._key(segment) for segment in segments]
        found = []
        for key, data in zip(keys, log.get_all(keys), strict=True):
            if data is None:
                raise LookupError(f"segment {key} is missing from the state log")
            found.append(data)
        return found

    def _key(self, segment: Segment) -> str:
        kind = "page/" if segment.paged else SEGMENT
        return f"{kind}{self._anchor}/{segment.number}"


def _runs(parts: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Parts that are read at once: each run costs what many rows cost."""
    run: list[Segment] = []
    for part in parts:
        run.append(part)
        if sum(each.rows for each in run) >= _READ_ROWS:
            yield run
            run = []
    if run:
        yield run


def _page(parts: Sequence[Segment]) -> bytes:
    return msgspec.json.encode([part.to_json() for part in parts])
