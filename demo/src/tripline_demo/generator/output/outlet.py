"""The outlet of records: the port, and the values that cross it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

Headers = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Record:
    """One Kafka record; `time` is the record time in ms since the epoch."""

    key: bytes | None
    value: bytes
    time: int
    headers: Headers = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Delivered:
    """The confirmed position of a record."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Failures:
    """The number of records that were refused or timed out, and the latest reason."""

    count: int = 0
    latest: str | None = None


class Outlet(Protocol):
    """Takes records for the transactions topic."""

    def send(self, record: Record) -> bool:
        """Hands the record over; False when the queue is full (try again after `serve`)."""
        ...

    def serve(self, timeout: float) -> None:
        """Lets the outlet work (delivery reports) for up to `timeout` seconds."""
        ...

    def flush(self, timeout: float) -> int:
        """Waits up to `timeout` seconds for everything handed over; how many are still under way."""
        ...

    def failures(self) -> Failures:
        """So far."""
        ...


class Desk(Protocol):
    """Takes single records, where the one who brings it waits."""

    def deliver(self, record: Record, timeout: float) -> Delivered:
        """Sends one record and waits up to `timeout` seconds for its confirmation. Raises Unsendable."""
        ...
