"""Status records: what is read, what is refused by name, and database before offsets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.domain.reports.shard_reports import Applied, read_status
from rules_registry.errors import InvalidStatus, StoreUnavailable
from rules_registry.service.status_projector import AHEAD_MS, STALE_SECONDS, Status, StatusProjector

WORD: dict[str, Any] = {
    "ruleId": 12,
    "version": 3,
    "position": 57,
    "shard": 0,
    "shards": 2,
    "appliedAt": 1_763_640_000_000,
    "warmFrom": None,
}
APPLIED = Applied(
    rule_id=12, version=3, position=57, shard=0, shards=2, applied_at=1_763_640_000_000, warm_from=None
)


def as_bytes(**changes: Any) -> bytes:
    return json.dumps({**WORD, **changes}).encode()


def test_a_word_of_a_shard_is_read() -> None:
    assert read_status(as_bytes()) == APPLIED
    assert read_status(as_bytes(warmFrom=5)) == replace(APPLIED, warm_from=5)


BROKEN: list[tuple[bytes | None, str, str]] = [
    (None, "not JSON", "a tombstone"),
    (b"\xff", "not JSON", "no text"),
    (b"[" * 100_000, "not JSON", "deeper than anything reads"),
    (b"[]", "not an object", "a list"),
    (as_bytes(shard=2), "shard is not an integer from 0 to 1", "a shard that there is not"),
    (as_bytes(shards=0), "shards is not", "no shard at all"),
    (as_bytes(ruleId=True), "ruleId is not", "true is no id"),
    (as_bytes(position="57"), "position is not", "a text"),
    (as_bytes(version=10**12), "version is not", "beyond what the column holds"),
    (as_bytes(appliedAt=-1), "appliedAt is not", "before the epoch"),
    (as_bytes(warmFrom=1.5), "warmFrom is not", "a fraction"),
]


@pytest.mark.parametrize(("value", "said", "reason"), BROKEN, ids=[case[-1] for case in BROKEN])
def test_what_cannot_be_read_says_why(value: bytes | None, said: str, reason: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        read_status(value)
    assert said in str(refused.value), reason


@dataclass
class World:
    """A topic in batches, a table, and one fault of the database."""

    batches: list[list[bytes | None]]
    fault: Exception | None = None
    refused: int = 0
    stored: list[Status] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    committed: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def projector(self, clock: Any = lambda: 0.0) -> tuple[StatusProjector, CollectorRegistry]:
        metrics = CollectorRegistry()
        return StatusProjector(self.open_source, self.open_store, metrics, self.stop, clock), metrics

    @contextmanager
    def open_source(self) -> Iterator[FakeSource]:
        yield FakeSource(self, self.committed)

    @contextmanager
    def open_store(self) -> Iterator[FakeStatusStore]:
        yield FakeStatusStore(self)


@dataclass
class FakeSource:
    world: World
    next: int

    def take(self, seconds: float) -> Sequence[bytes | None]:
        del seconds
        if self.next == len(self.world.batches):
            self.world.stop.set()
            return []
        self.next += 1
        return self.world.batches[self.next - 1]

    def commit(self) -> None:
        self.world.steps.append("commit")
        self.world.committed = self.next


@dataclass
class FakeStatusStore:
    world: World

    def put(self, statuses: Sequence[Status]) -> int:
        if self.world.fault is not None:
            fault, self.world.fault = self.world.fault, None
            raise fault
        self.world.steps.append("put")
        self.world.stored += statuses
        return self.world.refused


def test_the_database_comes_before_the_offsets() -> None:
    world = World([[as_bytes()], [as_bytes(shard=1)]])
    projector, metrics = world.projector()
    projector.run()
    assert world.steps == ["put", "commit", "put", "commit"]
    assert [status.shard for status in world.stored] == [0, 1]
    assert metrics.get_sample_value("tripline_status_projected_total") == 2


def test_what_no_engine_can_have_written_is_counted_and_its_offset_committed() -> None:
    world = World([[as_bytes(), as_bytes(shard=1)]], refused=1)
    projector, metrics = world.projector()
    projector.run()
    assert world.steps == ["put", "commit"]
    assert metrics.get_sample_value("tripline_status_projected_total") == 1
    assert metrics.get_sample_value("tripline_status_refused_total") == 1


def test_a_report_from_the_future_hides_no_later_one() -> None:
    report = {
        "kind": "position",
        "engine": "e",
        "position": 1,
        "digest": "a" * 64,
        "digestFrom": 0,
        "waiting": False,
        "shard": 0,
        "shards": 1,
    }
    now = time.time_ns() // 1_000_000
    times = (now, now + AHEAD_MS * 2, 253_402_300_799_999)
    world = World([[json.dumps({**report, "reportedAt": time}).encode() for time in times]])
    projector, metrics = world.projector()
    projector.run()
    assert [status.reported_at for status in world.stored if isinstance(status, PositionReport)] == [now]
    assert metrics.get_sample_value("tripline_status_broken_total") == 2


def test_a_broken_record_does_not_hold_up_its_neighbours() -> None:
    world = World([[as_bytes(), b"{", as_bytes(shard=1)], [None]])
    projector, metrics = world.projector()
    projector.run()
    assert [status.shard for status in world.stored] == [0, 1]
    assert world.committed == 2, "offsets move on past a batch of nothing but garbage"
    assert metrics.get_sample_value("tripline_status_broken_total") == 2


def test_what_the_database_did_not_take_comes_again() -> None:
    world = World([[as_bytes()]], fault=StoreUnavailable("down"))
    world.projector()[0].run()
    assert world.steps == ["put", "commit"]
    assert world.stored == [APPLIED]


def test_it_is_ready_while_it_works() -> None:
    now = [100.0]
    projector, _ = World([]).projector(lambda: now[0])
    with pytest.raises(StoreUnavailable):
        projector.check()
    projector.run()
    projector.check()
    now[0] += STALE_SECONDS + 1
    with pytest.raises(StoreUnavailable):
        projector.check()
