"""The replays of a process: each on a thread of its own, a few at a time, remembered for a while."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import structlog

from tripline_contracts.event_type import EventType
from tripline_demo.generator.errors import ReplayNotFound, TooManyReplays
from tripline_demo.generator.output.outlet import Outlet
from tripline_demo.generator.recordings.reception import Engine, play
from tripline_demo.generator.recordings.recording import BadLine, Line
from tripline_demo.generator.recordings.replay import Order, Progress, Replay, snapshot, source_of

MAX_RUNNING: Final = 4
_REMEMBERED: Final = 100
_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Run:
    order: Order
    replay: Replay
    stop: threading.Event
    thread: threading.Thread
    unused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A replay as it stands.

    :ivar unused: columns of the recording that nothing is read from
    """

    replay_id: str
    order: Order
    progress: Progress
    unused: tuple[str, ...] = ()


class Replays:
    """Starts, shows and stops replays; safe to use from several threads."""

    def __init__(
        self,
        event_type: EventType,
        new_outlet: Callable[[], Outlet],
        wall: Callable[[], int],
        new_engine: Callable[[Callable[[float], bool]], Engine],
    ) -> None:
        """`new_engine(wait)`: `wait(seconds)` returns True when the replay is to stop."""
        self._event_type, self._new_outlet, self._wall = event_type, new_outlet, wall
        self._new_engine = new_engine
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}

    def start(
        self,
        order: Order,
        lines: Iterable[Line | BadLine],
        on_end: Callable[[], None],
        unused: tuple[str, ...] = (),
    ) -> Report:
        """Begins to replay; `on_end` is called when it is over, however it ends. Raises TooManyReplays."""
        with self._lock:
            if sum(run.thread.is_alive() for run in self._runs.values()) >= MAX_RUNNING:
                raise TooManyReplays(f"{MAX_RUNNING} replays are running: wait for one, or stop one")
            replay_id = str(uuid.uuid4())
            stop = threading.Event()
            order = replace(order, source=source_of(replay_id))
            replay = Replay(order, self._event_type, self._new_outlet(), self._wall, lambda s: _wait(stop, s))
            engine = self._new_engine(lambda s: _wait(stop, s))
            thread = threading.Thread(
                target=_run,
                args=(replay_id, order.source, replay, lines, engine, on_end),
                name=f"replay-{replay_id}",
                daemon=True,
            )
            thread.start()
            self._runs[replay_id] = _Run(order, replay, stop, thread, unused)
            self._forget()
            return Report(replay_id, order, snapshot(replay.progress), unused)

    def report(self, replay_id: str) -> Report:
        """As of now. Raises ReplayNotFound."""
        run = self._run_of(replay_id)
        return Report(replay_id, run.order, snapshot(run.replay.progress), run.unused)

    def stop(self, replay_id: str, timeout: float = 5.0) -> Report:
        """Stops it and waits up to `timeout` seconds for that. Raises ReplayNotFound."""
        run = self._run_of(replay_id)
        run.stop.set()
        run.thread.join(timeout)
        return self.report(replay_id)

    def stop_all(self) -> None:
        """At the end of the process."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.stop.set()
        for run in runs:
            run.thread.join(5.0)

    def _run_of(self, replay_id: str) -> _Run:
        with self._lock:
            run = self._runs.get(replay_id)
        if run is None:
            raise ReplayNotFound(replay_id)
        return run

    def _forget(self) -> None:
        ended = [replay_id for replay_id, run in self._runs.items() if not run.thread.is_alive()]
        for replay_id in ended[: max(0, len(self._runs) - _REMEMBERED)]:
            del self._runs[replay_id]


def _wait(stop: threading.Event, seconds: float) -> bool:
    return stop.wait(seconds) if seconds > 0 else stop.is_set()


def _run(
    replay_id: str,
    source: str,
    replay: Replay,
    lines: Iterable[Line | BadLine],
    engine: Engine,
    on_end: Callable[[], None],
) -> None:
    try:
        play(replay, lines, source, engine)
    except Exception:  # noqa: BLE001 - whatever it was, it is this replay's end and nothing else's
        # the state says `failed` already; a thread's traceback would be lost without this line
        _LOG.exception("replay failed", replay_id=replay_id)
    finally:
        on_end()
    done = replay.progress
    _LOG.info("replay ended", replay_id=replay_id, state=done.state, sent=done.sent, bad=done.bad)
