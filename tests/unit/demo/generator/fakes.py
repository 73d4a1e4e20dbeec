"""Stand-ins for Kafka and for time."""

from __future__ import annotations

from dataclasses import dataclass, field

from tripline_demo.generator.errors import Unheard, Unsendable
from tripline_demo.generator.output.outlet import Delivered, Failures, Record
from tripline_demo.generator.recordings.replay import Reception


@dataclass
class FakeOutlet:
    """Keeps what it is given. `room` records fit before it is full; `serve` makes room for as many again."""

    records: list[Record] = field(default_factory=list)
    room: int = 1_000_000
    served: int = 0
    refused: Failures = field(default_factory=Failures)
    unconfirmed: int = 0
    _free: int = -1

    def send(self, record: Record) -> bool:
        if self._free < 0:
            self._free = self.room
        if self._free == 0:
            return False
        self._free -= 1
        self.records.append(record)
        return True

    def serve(self, timeout: float) -> None:
        del timeout
        self.served += 1
        self._free = self.room

    def flush(self, timeout: float) -> int:
        del timeout
        return self.unconfirmed

    def failures(self) -> Failures:
        return self.refused


@dataclass
class FakeDesk:
    """Confirms everything, or nothing."""

    records: list[Record] = field(default_factory=list)
    broken: bool = False

    def deliver(self, record: Record, timeout: float) -> Delivered:
        del timeout
        if self.broken:
            raise Unsendable("Kafka did not confirm the transaction within 10 s; it may arrive yet")
        self.records.append(record)
        return Delivered(1, len(self.records) - 1)


@dataclass
class FakeEngine:
    """Says what it is told to say, or why it cannot."""

    answer: Reception | str = "engine-order.v1: there is none"
    asked: list[tuple[str, int]] = field(default_factory=list)
    begun: bool = False

    def begin(self) -> None:
        self.begun = True

    def reception(self, source: str, since: int) -> Reception:
        assert self.begun
        self.asked.append((source, since))
        if isinstance(self.answer, str):
            raise Unheard(self.answer)
        return self.answer


@dataclass
class FakeTime:
    """Time that moves when told to; `wait` moves it and notes for how long."""

    now_ms: int = 1_763_700_000_000
    waits: list[float] = field(default_factory=list)

    def wall(self) -> int:
        return self.now_ms

    def steady(self) -> float:
        return self.now_ms / 1_000

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now_ms += round(seconds * 1_000)
        return False
