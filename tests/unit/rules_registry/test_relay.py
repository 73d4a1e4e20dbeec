"""The relay between a log and a Kafka that fail as told: in order, at least once, nothing left out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry

from rules_registry.domain.undelivered import Undelivered
from rules_registry.errors import DeliveryFailed, RelayCursorMoved, StoreUnavailable
from rules_registry.service.relay import BATCH, STALE_SECONDS, Relay
from rules_registry.service.relay_metrics import relay_metrics


@dataclass
class World:
    """A log of `end` events, its cursor, and what Kafka has; each fault happens once, when its turn comes."""

    end: int
    cursor: int = 0
    kafka: list[int] = field(default_factory=list)
    faults: dict[str, list[Exception]] = field(default_factory=dict)
    locked_by_another: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    sessions: int = 0

    def fail_if_told(self, step: str) -> None:
        if self.faults.get(step):
            raise self.faults[step].pop(0)

    def relay(self, clock: Callable[[], float] = lambda: 0.0) -> tuple[Relay, CollectorRegistry]:
        metrics = CollectorRegistry()
        relay = Relay(self.open_outbox, self.open_publisher, relay_metrics(metrics), self.stop, clock)
        return relay, metrics

    @contextmanager
    def open_outbox(self) -> Iterator[FakeOutbox]:
        self.sessions += 1
        self.fail_if_told("connect")
        yield FakeOutbox(self)

    @contextmanager
    def open_publisher(self) -> Iterator[FakePublisher]:
        yield FakePublisher(self)


@dataclass
class FakeOutbox:
    world: World

    def try_lock(self) -> bool:
        if self.world.locked_by_another:
            self.world.locked_by_another -= 1
            return False
        return True

    def cursor(self) -> int:
        return self.world.cursor

    def undelivered(self, after: int, limit: int) -> Sequence[Undelivered]:
        self.world.fail_if_told("read")
        positions = range(after + 1, min(self.world.end, after + limit) + 1)
        return [Undelivered(position, "id", "RulePaused", 1, 0, {}) for position in positions]

    def advance(self, since: int, to: int) -> None:
        self.world.fail_if_told("advance")
        assert since == self.world.cursor, "the cursor moves from where it stands"
        self.world.cursor = to

    def wait(self, seconds: float) -> None:
        del seconds
        self.world.stop.set()


@dataclass
class FakePublisher:
    world: World

    def deliver(self, events: Sequence[Undelivered]) -> None:
        faulty = bool(self.world.faults.get("deliver"))
        # A failed delivery may have brought any beginning of the batch.
        arrived = events[: len(events) // 2] if faulty else events
        self.world.kafka += [event.position for event in arrived]
        self.world.fail_if_told("deliver")


def taken(kafka: list[int]) -> list[int]:
    """What a reader has that ignores positions it has passed."""
    positions: list[int] = []
    for position in kafka:
        if not positions or position > positions[-1]:
            positions.append(position)
    return positions


def test_everything_goes_out_in_batches() -> None:
    world = World(end=2 * BATCH + 1)
    relay, metrics = world.relay()
    relay.run()
    assert world.kafka == list(range(1, 2 * BATCH + 2))
    assert world.cursor == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_delivered_total") == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_position") == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_active") == 0, "it has let go"


def test_it_begins_at_its_cursor() -> None:
    world = World(end=9, cursor=7)
    world.relay()[0].run()
    assert world.kafka == [8, 9]


FAULTS: list[tuple[str, Exception, list[int], str]] = [
    ("connect", StoreUnavailable("down"), [1, 2, 3, 4], "no database at first"),
    ("read", StoreUnavailable("down"), [1, 2, 3, 4], "the database goes away"),
    ("deliver", DeliveryFailed("half"), [1, 2, 1, 2, 3, 4], "half of the batch arrived"),
    ("advance", StoreUnavailable("down"), [1, 2, 3, 4, 1, 2, 3, 4], "delivered, and the cursor did not move"),
    ("advance", RelayCursorMoved("moved"), [1, 2, 3, 4, 1, 2, 3, 4], "somebody moved the cursor"),
]


@pytest.mark.parametrize(("step", "fault", "kafka", "reason"), FAULTS, ids=[case[-1] for case in FAULTS])
def test_after_a_fault_it_begins_again(step: str, fault: Exception, kafka: list[int], reason: str) -> None:
    world = World(end=4, faults={step: [fault]})
    relay, metrics = world.relay()
    relay.run()
    assert world.kafka == kafka, reason
    assert taken(world.kafka) == [1, 2, 3, 4]
    assert world.cursor == 4
    assert world.sessions == 2
    labels = {"error": type(fault).__name__}
    assert metrics.get_sample_value("tripline_relay_failures_total", labels) == 1


def test_a_fault_of_ours_is_not_retried() -> None:
    world = World(end=4, faults={"read": [ZeroDivisionError()]})
    with pytest.raises(ZeroDivisionError):
        world.relay()[0].run()


def test_it_waits_while_another_one_is_active() -> None:
    world = World(end=2, locked_by_another=1)
    relay, _ = world.relay()
    relay.run()
    assert world.kafka == [1, 2]


def test_stopped_while_it_waits_it_delivers_nothing() -> None:
    world = World(end=2, locked_by_another=10**6)
    relay, _ = world.relay()
    world.stop.set()
    relay.run()
    assert world.kafka == []


def test_it_is_ready_while_it_sees_the_database() -> None:
    now = [100.0]
    world = World(end=0)
    relay, _ = world.relay(lambda: now[0])
    with pytest.raises(StoreUnavailable):
        relay.check()
    relay.run()
    relay.check()
    now[0] += STALE_SECONDS + 1
    with pytest.raises(StoreUnavailable):
        relay.check()
