"""Playing a recording again: the lines' own distances in time, at any speed, moved to now unless told otherwise.

The first good line happens at the start of the replay, all others as far from it as they were recorded; the record
time is the event time. `speed` is about sending only: at 10 the events are sent ten times as fast as they happened,
so their times run ahead of the wall clock, and windows hold what they held when it was recorded.

    recorded   09:00:00 ─ 09:00:10 ─────── 09:01:00        sent at speed 10, started at 12:00:00:
    shifted    12:00:00   12:00:10         12:01:00        12:00:00   12:00:01   12:00:06
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tripline_contracts import cloudevents
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_demo.generator.output.outlet import Outlet, Record
from tripline_demo.generator.output.record_renderer import EVENT_TYPE, SOURCE, backfill_headers
from tripline_demo.generator.recordings.recording import BadLine, Line
from tripline_demo.generator.transaction_input import Transaction, key_of, to_bytes

Shift = Literal["now", "none"]
State = Literal["running", "finished", "stopped", "failed"]

MAX_LISTED: Final = 1_000
"""How many bad lines are listed; all are counted."""

_FLUSH_SECONDS: Final = 40.0


@dataclass(frozen=True, slots=True)
class Order:
    """The options of a replay.

    :ivar speed: None is as fast as possible
    :ivar backfill: the id of the backfill that the records are for: while it is open the engine admits them whatever
        their age, and evaluates nothing for them
    :ivar new_ids: begins the ids that stand for those of the recording, so that the engine does not know them from an
        earlier replay; equal ids stay equal. None: ids stay
    :ivar source: names the replay in its records, as their CloudEvents source
    """

    speed: float | None = 1.0
    shift: Shift = "now"
    backfill: str | None = None
    new_ids: str | None = None
    source: str = SOURCE


@dataclass(frozen=True, slots=True)
class Reception:
    """What the engine made of the lines that are in Kafka.

    :ivar known: of an id that it has had, so that they count for nothing
    :ivar refused: by reason
    :ivar waiting: not judged yet
    """

    taken: int
    known: int
    refused: Mapping[str, int]
    waiting: int


@dataclass(slots=True)
class Progress:
    """The outcome of the lines so far. Written by the replaying thread alone.

    :ivar earliest: the least record time that was sent, in ms
    :ivar engine: a text says why it cannot be said; None: not known yet
    """

    state: State = "running"
    sent: int = 0
    failed: int = 0
    latest_failure: str | None = None
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    earliest: int | None = None
    engine: Reception | str | None = None

    def add_bad(self, line: BadLine) -> None:
        """Counts it, and lists it while the list is short."""
        self.bad += 1
        if len(self.bad_lines) < MAX_LISTED:
            self.bad_lines.append(line)


class Replay:
    """One run through a recording. `wall` in ms; `wait(seconds)` returns True when the replay is to stop."""

    def __init__(
        self,
        order: Order,
        event_type: EventType,
        outlet: Outlet,
        wall: Callable[[], int],
        wait: Callable[[float], bool],
    ) -> None:
        self._order, self._event_type, self._outlet = order, event_type, outlet
        self._wall, self._wait = wall, wait
        self._started: int | None = None
        self._first = 0
        self.progress = Progress()

    def run(self, lines: Iterable[Line | BadLine]) -> None:
        """Sends every good line; returns when all are confirmed, refused or given up."""
        try:
            stopped = any(not self._take(item) for item in lines)
            left = self._outlet.flush(_FLUSH_SECONDS)
            self._note_failures(left)
            self.progress.state = "stopped" if stopped else "finished"
        finally:
            if self.progress.state == "running":
                self.progress.state = "failed"

    def _take(self, item: Line | BadLine) -> bool:
        """False when the replay was stopped."""
        if isinstance(item, BadLine):
            self.progress.add_bad(item)
            return True
        event_time = _time_of(item.transaction, self._event_type)
        if self._started is None:
            self._started, self._first = self._wall(), event_time
        shifted = event_time - self._first + self._started if self._order.shift == "now" else event_time
        if not 0 <= shifted <= MAX_TIMESTAMP:
            self.progress.add_bad(BadLine(item.line, "eventTime: out of range after the shift to now"))
            return True
        if not self._is_due(event_time, self._started):
            return False
        return self._send(self._record(item.transaction, shifted))

    def _is_due(self, event_time: int, started: int) -> bool:
        if self._order.speed is None:
            return not self._wait(0)
        due = started + (event_time - self._first) / self._order.speed
        return not self._wait(max(0.0, (due - self._wall()) / 1_000))

    def _record(self, transaction: Transaction, event_time: int) -> Record:
        event_type = self._event_type
        moved: Transaction = {**transaction, event_type.time_field.name: event_time}
        if self._order.shift == "now" and event_type.ingestion_field is not None:
            moved[event_type.ingestion_field.name] = self._wall()
        identity = str(moved[event_type.id_field.name])
        if self._order.new_ids is not None:
            identity = _renamed(identity, self._order.new_ids, event_type.id_field.max_length or 64)
            moved[event_type.id_field.name] = identity
        headers = [
            *cloudevents.headers(identity, EVENT_TYPE, self._order.source, event_time),
            *backfill_headers(self._order.backfill),
        ]
        return Record(key_of(moved, event_type), to_bytes(moved), event_time, headers)

    def _send(self, record: Record) -> bool:
        while not self._outlet.send(record):
            self._outlet.serve(0.05)
            if self._wait(0):
                return False
        self._outlet.serve(0)
        self.progress.sent += 1
        earliest = self.progress.earliest
        self.progress.earliest = record.time if earliest is None else min(earliest, record.time)
        self._note_failures(0)
        return True

    def _note_failures(self, left: int) -> None:
        failures = self._outlet.failures()
        self.progress.failed = failures.count + left
        self.progress.latest_failure = "not confirmed in time" if left else failures.latest


def source_of(replay_id: str) -> str:
    """The source of its records."""
    return f"{SOURCE}/replays/{replay_id}"


def _time_of(transaction: Transaction, event_type: EventType) -> int:
    value = transaction[event_type.time_field.name]
    assert isinstance(value, int)  # read by the event type: a timestamp is an int
    return value


def _renamed(identity: str, run: str, most: int) -> str:
    """Another id for this one, the same in a run; 96 bits of it where the type has room for 24 characters."""
    return hashlib.blake2b(identity.encode(), key=run.encode()[:64], digest_size=12).hexdigest()[:most]


def snapshot(progress: Progress) -> Progress:
    """A copy that stays as it is."""
    return replace(progress, bad_lines=list(progress.bad_lines))
