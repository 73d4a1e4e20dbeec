"""The thread that sends the stream: as many records as the traffic asks for, changed while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from tripline_demo.generator.errors import Unsendable
from tripline_demo.generator.output.outlet import Outlet, Record
from tripline_demo.generator.output.pacer import Meter, Pace
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.shape import Kind, Made, Shape
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.traffic import Traffic, shape_of

_SHORTEST_SECONDS: Final = 0.005
_LONGEST_SECONDS: Final = 0.05
_WORTH_A_TURN: Final = 10
"""Records: each turn with fewer is a request of its own to Kafka, which costs it as much as one of many."""
_CHUNK: Final = 1_024
_BURST: Final = 512
FAILING_SECONDS: Final = 60.0
"""After a delivery that failed."""
_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Counters:
    """Records handed to Kafka since the start, in all and by what was done to them, and those that failed."""

    sent: int = 0
    late: int = 0
    duplicate: int = 0
    broken: int = 0
    failed: int = 0
    achieved_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Clocks:
    """The sources of time: `steady` in seconds, `wall` in ms since the epoch."""

    steady: Callable[[], float]
    wall: Callable[[], int]


class Stock:
    """Transactions computed ahead, a chunk at a time: a numpy call for each would cost more than the transaction."""

    def __init__(self, trade: Trade, shape: Shape, start: int) -> None:
        self._trade, self.shape = trade, shape
        self._next = start
        self._chunk: Sequence[Made] = []
        self._used = 0

    @property
    def position(self) -> int:
        """The number of the next transaction."""
        return self._next - (len(self._chunk) - self._used)

    def take(self, count: int) -> list[Made]:
        """The next `count` transactions."""
        taken: list[Made] = []
        while len(taken) < count:
            if self._used == len(self._chunk):
                self._chunk = self._trade.make(self.shape, self._next, _CHUNK)
                self._next += _CHUNK
                self._used = 0
            more = self._chunk[self._used : self._used + count - len(taken)]
            self._used += len(more)
            taken += more
        return taken


def pause(rate: int) -> float:
    """Seconds between two turns at a rate of so many records a second."""
    return min(max(_WORTH_A_TURN / rate, _SHORTEST_SECONDS), _LONGEST_SECONDS) if rate else _LONGEST_SECONDS


class Sender:
    """Owns the stream's position and its counters. `run_once` is one turn; `run` turns until stopped."""

    def __init__(
        self,
        trade: Trade,
        traffic: Traffic,
        outlet: Outlet,
        clocks: Clocks,
        new_renderer: Callable[[], Renderer],
    ) -> None:
        """`new_renderer` is asked once per stream: at the start and whenever the seed is set."""
        self._trade = trade
        self._outlet, self._clocks, self._new_renderer = outlet, clocks, new_renderer
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._meter = Meter()
        self._sent = 0
        self._kinds = [0, 0, 0, 0]
        self._failed, self._failed_at = 0, float("-inf")
        self._traffic = traffic
        self._stock = Stock(trade, shape_of(traffic, trade), 0)
        self._renderer = new_renderer()
        self._pace = Pace(traffic.rate, clocks.steady())

    @property
    def traffic(self) -> Traffic:
        """The traffic that is asked for now."""
        return self._traffic

    def change(self, traffic: Traffic, *, restart: bool = False) -> None:
        """From the next turn on. With `restart` the stream begins anew, at its first transaction."""
        with self._lock:
            if restart:
                self._renderer = self._new_renderer()
            position = 0 if restart else self._stock.position
            shape = shape_of(traffic, self._trade)
            if restart or shape != self._stock.shape:
                self._stock = Stock(self._trade, shape, position)
            if restart or traffic.rate != self._traffic.rate:
                self._pace = Pace(traffic.rate, self._clocks.steady())
                self._meter = Meter()
            self._traffic = traffic

    def counters(self) -> Counters:
        """As of now."""
        kinds, sent = self._kinds, self._sent
        return Counters(
            sent,
            kinds[Kind.LATE],
            kinds[Kind.DUPLICATE],
            kinds[Kind.BROKEN],
            self._outlet.failures().count,
            self._meter.rate(self._clocks.steady(), sent),
        )

    def check(self) -> None:
        """The readiness check. Raises Unsendable while deliveries fail, and for a minute after the last."""
        if self._clocks.steady() - self._failed_at < FAILING_SECONDS:
            raise Unsendable(f"deliveries fail: {self._outlet.failures().latest}")

    def run(self) -> None:
        """Turns until `stop`. An unforeseen error is logged and ends the thread: /readyz then says so."""
        try:
            while not self._stopped.wait(pause(self._traffic.rate)):
                while self.run_once() == _BURST and not self._stopped.is_set():
                    pass
        except Exception:
            _LOG.exception("sender failed")
            raise

    def stop(self) -> None:
        """Ends `run` at its next turn."""
        self._stopped.set()

    def run_once(self) -> int:
        """Sends what is due, at most a burst; how many that were."""
        with self._lock:
            due = self._pace.take(self._clocks.steady(), _BURST)
            batch = self._stock.take(due) if due else []
            renderer, meter = self._renderer, self._meter
        # outside of the lock: a full queue may hold this up, and GET and PUT must answer all the same
        for made, record in zip(batch, renderer.records(batch, self._clocks.wall()), strict=True):
            if not self._hand_over(record):
                break
            self._kinds[made.kind] += 1
            self._sent += 1
        meter.mark(self._clocks.steady(), self._sent)
        self._serve(0)
        return due

    def _hand_over(self, record: Record) -> bool:
        while not self._outlet.send(record):
            if self._stopped.is_set():
                return False
            self._serve(0.05)
        return True

    def _serve(self, seconds: float) -> None:
        self._outlet.serve(seconds)
        failed = self._outlet.failures().count
        if failed != self._failed:
            self._failed, self._failed_at = failed, self._clocks.steady()
