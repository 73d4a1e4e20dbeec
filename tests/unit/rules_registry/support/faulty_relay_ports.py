"""A log, a cursor and a Kafka for the relay's unit tests; they fail as told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from rules_registry.domain.outbox_event import OutboxEvent
from rules_registry.service.relay import Relay
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
    kafka_answers: bool = True
    while_it_waits: list[Callable[[], None]] = field(default_factory=list)

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

    def undelivered(self, after: int, limit: int) -> Sequence[OutboxEvent]:
        self.world.fail_if_told("read")
        positions = range(after + 1, min(self.world.end, after + limit) + 1)
        return [OutboxEvent(position, "id", "RulePaused", 1, 0, {}) for position in positions]

    def advance(self, since: int, to: int) -> None:
        self.world.fail_if_told("advance")
        assert since == self.world.cursor, "the cursor moves from where it stands"
        self.world.cursor = to

    def rewind(self, to: int = 0) -> None:
        self.world.cursor = to

    def last_position(self) -> int:
        return self.world.end

    def wait(self, seconds: float) -> None:
        del seconds
        if self.world.while_it_waits:
            self.world.while_it_waits.pop(0)()
        else:
            self.world.stop.set()


@dataclass
class FakePublisher:
    world: World

    def deliver(self, events: Sequence[OutboxEvent]) -> None:
        faulty = bool(self.world.faults.get("deliver"))
        # A failed delivery may have brought any beginning of the batch.
        arrived = events[: len(events) // 2] if faulty else events
        self.world.kafka += [event.position for event in arrived]
        self.world.fail_if_told("deliver")

    def answers(self) -> bool:
        return self.world.kafka_answers
