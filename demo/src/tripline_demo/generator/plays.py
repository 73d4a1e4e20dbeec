"""Frauds being played: each on a thread and an outlet of its own, beside whatever the stream sends."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import structlog

from tripline_demo.generator.errors import FraudNotFound, TooManyPlays
from tripline_demo.generator.frauds import Fraud, Play
from tripline_demo.generator.output.outlet import Outlet
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.output.sender import Clocks
from tripline_demo.generator.trade import Trade

MAX_AT_ONCE: Final = 8
_REMEMBERED: Final = 50
_FLUSH_SECONDS: Final = 5.0
_LOG = structlog.get_logger(__name__)

State = Literal["running", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Report:
    """The progress of a play."""

    play_id: str
    fraud: Fraud
    cast: Mapping[str, str | None]
    state: State
    sent: int


class _Running:
    """One play on its thread."""

    def __init__(self, play_id: str, fraud: Fraud, play: Play, stopped: threading.Event) -> None:
        self.play_id, self.fraud, self._play, self._stopped = play_id, fraud, play, stopped
        self.state: State = "running"
        self._sent = 0

    def report(self) -> Report:
        return Report(self.play_id, self.fraud, self._play.cast, self.state, self._sent)

    def run(self, outlet: Outlet, renderer: Renderer, clocks: Clocks) -> None:
        try:
            self.state = self._send(outlet, renderer, clocks)
        except Exception:
            self.state = "failed"
            _LOG.exception("play failed", play_id=self.play_id)
            raise

    def _send(self, outlet: Outlet, renderer: Renderer, clocks: Clocks) -> State:
        begun = clocks.steady()
        for moment in self._play.moments:
            if self._stopped.wait(max(0.0, begun + moment.after_ms / 1_000 - clocks.steady())):
                return "stopped"
            (record,) = renderer.records([moment.made], clocks.wall())
            while not outlet.send(record):
                if self._stopped.is_set():
                    return "stopped"
                outlet.serve(0.05)
            self._sent += 1
            outlet.serve(0)
        left = outlet.flush(_FLUSH_SECONDS)
        return "failed" if left or outlet.failures().count else "finished"


class Plays:
    """Starts plays and remembers the last ones. `seed` differs from process to process: so do the accounts."""

    def __init__(
        self,
        trade: Trade,
        seed: int,
        new_outlet: Callable[[], Outlet],
        clocks: Clocks,
        new_renderer: Callable[[], Renderer],
        new_id: Callable[[], str],
    ) -> None:
        self._trade = trade
        self._seed, self._new_outlet, self._clocks = seed, new_outlet, clocks
        self._new_renderer, self._new_id = new_renderer, new_id
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._number = 0
        self._known: deque[tuple[_Running, threading.Thread]] = deque(maxlen=_REMEMBERED)

    def start(self, name: str) -> Report:
        """Begins at once. Raises FraudNotFound and TooManyPlays."""
        fraud = self._trade.fraud(name)
        if fraud is None:
            raise FraudNotFound(name)
        with self._lock:
            if sum(thread.is_alive() for _, thread in self._known) >= MAX_AT_ONCE:
                raise TooManyPlays(f"{MAX_AT_ONCE} plays are running")
            play = fraud.stage(self._seed, self._number)
            self._number += 1
            running = _Running(self._new_id(), fraud, play, self._stopped)
            thread = threading.Thread(
                target=running.run,
                args=(self._new_outlet(), self._new_renderer(), self._clocks),
                name=f"play-{fraud.name}",
                daemon=True,
            )
            self._known.append((running, thread))
            thread.start()
        return running.report()

    def reports(self) -> list[Report]:
        """The newest first."""
        with self._lock:
            known = list(self._known)
        return [running.report() for running, _ in reversed(known)]

    def stop_all(self) -> None:
        """At the end of the process."""
        self._stopped.set()
        for _, thread in list(self._known):
            thread.join(_FLUSH_SECONDS)
