"""Seats of the alert stream: few enough for the threads, and a few for each actor."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from tripline_http.errors import ProblemError

MAX_STREAMS: Final = 16
MAX_PER_ACTOR: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class StreamSeat:
    """An open stream; it has to end soon once `replaced` is set."""

    actor: str
    replaced: threading.Event = field(default_factory=threading.Event)


class StreamSeats:
    """A bound on open streams: each holds a thread, and the other requests need some too.

    An actor's oldest stream makes way for a new one. It holds its thread until it has noticed, so an actor whose
    streams do not end (nobody reads them) has one seat more than `MAX_PER_ACTOR` at the most.
    """

    def __init__(self, number: int, registry: CollectorRegistry) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._seats: list[StreamSeat] = []
        self._open = Gauge("tripline_alert_streams_open", "Open alert streams.", registry=registry)

    def take(self, actor: str) -> StreamSeat:
        """Raises the 503 problem when all are taken, or while an earlier stream of the actor makes way."""
        with self._lock:
            mine = [seat for seat in self._seats if seat.actor == actor]
            if len(self._seats) >= self._number or len(mine) > MAX_PER_ACTOR:
                raise ProblemError(
                    503,
                    "too-many-streams",
                    "As many streams as may be open are open. Try again in a moment, or ask for the newest alerts.",
                    headers={"Retry-After": "5"},
                )
            if len(mine) == MAX_PER_ACTOR:
                mine[0].replaced.set()
            seat = StreamSeat(actor)
            self._seats.append(seat)
            self._open.set(len(self._seats))
            return seat

    def leave(self, seat: StreamSeat) -> None:
        """Releases it; a second time does nothing."""
        with self._lock:
            if seat in self._seats:
                self._seats.remove(seat)
            self._open.set(len(self._seats))
