"""The registry's log compared with what is in rules.v1, and with what engines say they have applied."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from rules_registry.domain.reports.position_report import PositionReport
from tripline_contracts import log_digest


class LogDigests:
    """The hashes of the log's events by position, from 1, and the digests over any of its ends."""

    def __init__(self) -> None:
        self._hashes: list[bytes] = []
        self._digests: dict[int, list[str]] = {}

    @property
    def position(self) -> int:
        """The last event's; 0 before any."""
        return len(self._hashes)

    def append(self, value: bytes) -> None:
        """The next event, by the value of its record."""
        self._hashes.append(log_digest.hash_of(value))

    def holds(self, position: int, value: bytes) -> bool:
        """Whether the event at that position is this one."""
        return 1 <= position <= self.position and self._hashes[position - 1] == log_digest.hash_of(value)

    def digest(self, since: int, until: int) -> str:
        """Of the events after position `since`, up to and with `until`, which is not beyond the end."""
        digests = self._digests.setdefault(since, [log_digest.START])
        for value_hash in self._hashes[since + len(digests) - 1 : until]:
            digests.append(log_digest.extend_by_hash(digests[-1], value_hash))
        return digests[until - since]

    def differences(self, report: PositionReport) -> Iterator[str]:
        """Sentences that say how a shard's rules differ from the log."""
        who = f"shard {report.shard} of engine {report.engine}"
        if report.position > self.position:
            yield f"{who} has applied position {report.position}, and the log ends at {self.position}"
        elif self.digest(report.digest_from, report.position) != report.digest:
            yield (
                f"{who} has applied other events than the log holds, somewhere after position {report.digest_from} and"
                f" up to {report.position}"
            )
        if report.is_waiting:
            yield f"{who} has refused an event of rules.v1 and waits for position {report.position + 1}"


class LogEnds:
    """Where the log has ended, and since when: at most one entry for each comparison."""

    def __init__(self) -> None:
        self._since: list[float] = []
        self._ends: list[int] = []

    def note(self, end: int, now: float) -> None:
        """The log ends there now."""
        if not self._ends or end != self._ends[-1]:
            self._since.append(now)
            self._ends.append(end)

    def before(self, moment: float) -> int:
        """The last event that was in the log at that moment; 0 if that is not known."""
        known = bisect_right(self._since, moment)
        return min(self._ends[known - 1], self._ends[-1]) if known else 0

    def reached(self, end: int) -> float:
        """Since when the log has ended there or further on."""
        return next(since for since, reached in zip(self._since, self._ends, strict=True) if reached >= end)


def position_of(value: bytes) -> int:
    """The position that a record says; 0, where none is, if it says none."""
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return 0
    position = data.get("position") if isinstance(data, dict) else None
    return position if isinstance(position, int) and not isinstance(position, bool) else 0


def of_newest_engine(reports: Sequence[PositionReport]) -> list[PositionReport]:
    """Those of the engine that spoke last, in the number of shards that it said."""
    newest = max(reports, key=lambda report: report.reported_at, default=None)
    return [
        report
        for report in reports
        if newest is not None and (report.engine, report.shards) == (newest.engine, newest.shards)
    ]


def laggards(reports: Sequence[PositionReport], due: int, since_ms: int) -> Iterator[str]:
    """Sentences that say which shards lack position `due`, that of an event they have had time for.

    Only those of the engine that spoke last, in the number that it said, and only what they have said since `since_ms`:
    shards speak when their record clock moves, which stands still without transactions of old data, and an engine that
    does not run says so itself.
    """
    if due == 0:
        return
    for report in of_newest_engine(reports):
        if report.position < due and report.reported_at >= since_ms:
            yield (
                f"shard {report.shard} of engine {report.engine} stands at position {report.position}, and the log has"
                f" held position {due} for minutes: look at the engine's log"
            )
