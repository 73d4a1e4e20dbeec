"""The log beside the topic and beside what engines say: each kind of difference, and none where there is none."""

from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.domain.reports.shard_reports import read_status
from rules_registry.errors import InvalidStatus, LogDiffers
from rules_registry.service.log_watch import (
    DELIVERY_SECONDS,
    FOREIGN_SECONDS,
    REPORT_SECONDS,
    STALE_MS,
    LogWatch,
)
from tripline_contracts import log_digest
from tripline_contracts.canonical import canonical_json

NOW = 1_763_690_000_000


def event(position: int) -> OutboxEvent:
    return OutboxEvent(
        position, f"e-{position}", "RulePaused", 1, NOW, {"position": position, "actor": "ada"}
    )


def value(position: int) -> bytes:
    return canonical_json(event(position).body)


def report(position: int, since: int = 0, **changes: Any) -> PositionReport:
    digest = log_digest.START
    for number in range(since + 1, position + 1):
        digest = log_digest.extend(digest, value(number))
    return replace(PositionReport("engine", 0, 1, position, digest, since, False, NOW), **changes)


@dataclass
class World:
    """A log, a topic and reports."""

    events: list[OutboxEvent] = field(default_factory=list)
    records: list[tuple[int, bytes]] = field(default_factory=list)
    reports: list[PositionReport] = field(default_factory=list)
    elapsed: float = 0.0

    def undelivered(self, after: int, limit: int) -> list[OutboxEvent]:
        return self.events[after : after + min(limit, 2)]

    def reported_positions(self) -> list[PositionReport]:
        return self.reports

    def new_records(self) -> list[tuple[int, bytes]]:
        new, self.records = self.records, []
        return new

    def watch(self) -> LogWatch:
        def port() -> nullcontext[World]:
            return nullcontext(self)

        return LogWatch(port, port, CollectorRegistry(), threading.Event(), lambda: NOW, lambda: self.elapsed)


def world(count: int) -> World:
    numbers = range(1, count + 1)
    return World([event(n) for n in numbers], [(n - 1, value(n)) for n in numbers])


def said(watch: LogWatch) -> str:
    with pytest.raises(LogDiffers) as differs:
        watch.check()
    return str(differs.value)


def test_equal_logs_are_equal() -> None:
    seen = world(5)
    seen.records += [(9, value(2)), (10, value(5))]  # what comes again
    seen.reports = [report(0), report(3), report(5), report(5, since=2), report(4, since=4)]
    watch = seen.watch()
    watch.check()
    watch.step(seen, seen)
    watch.check()
    seen.events.append(event(6))
    seen.records.append((11, value(6)))
    seen.reports.append(report(6))
    watch.step(seen, seen)
    watch.check()


@pytest.mark.parametrize(
    "foreign",
    [
        b'{"position":9007199254740991}',
        b'{"position":2,"actor":"eve"}',
        b"{",
        b"",
        b'{"position":true}',
        b'{"position":4}',
        b'{ "actor": "ada", "position": 1 }',
    ],
)
def test_a_record_that_is_not_in_the_log(foreign: bytes) -> None:
    seen = world(3)
    seen.records.append((3, foreign))
    watch = seen.watch()
    watch.step(seen, seen)
    assert "not in the registry's log" in said(watch)
    seen.elapsed = FOREIGN_SECONDS
    watch.check()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            report(3, digest="0" * 64),
            "has applied other events than the log holds, somewhere after position 0 and up to 3",
        ),
        (report(3, digest_from=1), "somewhere after position 1 and up to 3"),
        (report(4), "has applied position 4, and the log ends at 3"),
        (report(2, is_waiting=True), "waits for position 3"),
    ],
)
def test_a_shard_that_differs(wrong: PositionReport, sentence: str) -> None:
    seen = world(3)
    seen.reports = [report(3, shard=1, shards=2), wrong]
    watch = seen.watch()
    watch.step(seen, seen)
    assert sentence in said(watch)
    seen.reports = [replace(wrong, reported_at=NOW - STALE_MS - 1)]
    watch.step(seen, seen)
    watch.check()


def test_an_event_that_does_not_come_to_the_topic() -> None:
    seen = world(5)
    seen.records, late = [*seen.records[:2], *seen.records[3:]], seen.records[2]
    seen.reports = [report(5)]
    watch = seen.watch()
    watch.step(seen, seen)
    seen.elapsed = DELIVERY_SECONDS - 1
    watch.step(seen, seen)
    watch.check()
    seen.elapsed = DELIVERY_SECONDS
    watch.step(seen, seen)
    assert "rules.v1 lacks position 3 of the registry's log" in said(watch)
    assert "republish --from 3" in said(watch)
    seen.records = [(9, late[1])]
    watch.step(seen, seen)
    watch.check()


def test_a_topic_that_was_made_anew_and_lacks_what_the_log_holds() -> None:
    seen = world(3)
    seen.reports = [report(3)]
    watch = seen.watch()
    watch.step(seen, seen)
    seen.elapsed = DELIVERY_SECONDS
    seen.records = [(0, value(1))]
    watch.step(seen, seen)
    assert "rules.v1 lacks position 2" in said(watch)


def test_a_shard_that_stays_behind_the_log() -> None:
    seen = world(3)
    seen.reports = [report(3, shards=2), report(2, shard=1, shards=2)]
    watch = seen.watch()
    watch.step(seen, seen)
    seen.elapsed = REPORT_SECONDS - 1
    watch.step(seen, seen)
    watch.check()
    seen.elapsed = REPORT_SECONDS
    watch.step(seen, seen)
    assert "shard 1 of engine engine stands at position 2, and the log has held position 3" in said(watch)
    # events that have just come give it no more time for those of before
    seen.events.append(event(4))
    seen.records = [(3, value(4))]
    watch.step(seen, seen)
    assert "position 3" in said(watch)
    seen.reports[1] = report(3, shard=1, shards=2)
    watch.step(seen, seen)
    watch.check()


def test_an_engine_that_says_nothing_is_not_said_to_lag() -> None:
    """It may have no traffic: its record clock stands, and it speaks when that moves."""
    seen = world(3)
    watch = seen.watch()
    watch.step(seen, seen)
    seen.elapsed = REPORT_SECONDS
    watch.step(seen, seen)
    watch.check()
    seen.reports = [report(2, reported_at=NOW - 60_001)]
    watch.step(seen, seen)
    watch.check()
    seen.reports = [report(2, reported_at=NOW - 60_000)]
    watch.step(seen, seen)
    assert "stands at position 2, and the log has held position 3" in said(watch)


def test_an_engine_that_was_replaced_is_not_waited_for() -> None:
    seen = world(3)
    gone = report(1, engine="before", reported_at=NOW - 60_000)
    wider = report(1, shard=3, shards=4, reported_at=NOW - 60_000)
    seen.reports = [gone, wider, report(3, shards=2), report(3, shard=1, shards=2)]
    watch = seen.watch()
    watch.step(seen, seen)
    seen.elapsed = REPORT_SECONDS
    watch.step(seen, seen)
    watch.check()


RECORD: dict[str, Any] = {
    "kind": "position",
    "engine": "e",
    "position": 3,
    "digest": "a" * 64,
    "digestFrom": 1,
    "waiting": True,
    "shard": 1,
    "shards": 2,
    "reportedAt": NOW,
}


def test_a_report_is_read() -> None:
    assert read_status(json.dumps(RECORD).encode()) == PositionReport("e", 1, 2, 3, "a" * 64, 1, True, NOW)


@pytest.mark.parametrize(
    ("member", "wrong"),
    [
        ("engine", ""),
        ("engine", "a\u0000"),
        ("engine", "x" * 201),
        ("digest", "A" * 64),
        ("digest", None),
        ("digestFrom", 4),
        ("waiting", 1),
        ("shard", 2),
        ("position", -1),
        ("reportedAt", 1.5),
    ],
)
def test_a_report_that_cannot_be_read_says_why(member: str, wrong: object) -> None:
    with pytest.raises(InvalidStatus, match=member):
        read_status(json.dumps({**RECORD, member: wrong}).encode())
