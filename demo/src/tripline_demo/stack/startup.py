"""Starts the programs of a plan, each as soon as what it needs is there, and waits until they are up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tripline_demo.errors import StackFailed
from tripline_demo.stack.places import Places
from tripline_demo.stack.program import Program
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.supervisor import ENDED, Supervisor

POLL_SECONDS = 0.1
LISTED = 3
RESTARTS = 3
"""How often a program may end while it starts before the start is given up."""


@dataclass(slots=True)
class _Started:
    """A program that was started and is not up yet. `begun` is monotonic time in seconds."""

    program: Program
    begun: float
    pids: set[int] = field(default_factory=set)


class Start:
    """A start in progress: each program begins as soon as all that it needs is up."""

    def __init__(
        self, supervisor: Supervisor, programs: tuple[Program, ...], places: Places, progress: Progress
    ) -> None:
        self._supervisor = supervisor
        self._places = places
        self._progress = progress
        self._to_start = list(programs)
        self._started: list[_Started] = []
        self._up: set[str] = set()

    def advance(self, *, with_the_last: bool) -> None:
        """Returns when all programs are up; without the last ones: when all others are.

        Raises StackFailed when a program fails or takes too long, with the end of its log.
        """
        with self._progress.waiting("starting …"):
            while awaited := self._awaited(with_the_last=with_the_last):
                self._start_what_may()
                self._take_what_is_up()
                self._progress.now(f"waiting for {_listed(awaited)} … {self._progress.seconds():.0f} s")
                time.sleep(POLL_SECONDS)

    def _awaited(self, *, with_the_last: bool) -> list[Program]:
        remaining = [*(item.program for item in self._started), *self._to_start]
        return [program for program in remaining if with_the_last or not program.awaited_last]

    def _start_what_may(self) -> None:
        for program in [p for p in self._to_start if self._up.issuperset(p.needs)]:
            self._supervisor.start(program.name)
            self._to_start.remove(program)
            self._started.append(_Started(program, time.monotonic()))

    def _take_what_is_up(self) -> None:
        for item in list(self._started):
            if _is_up(self._supervisor, item, self._places):
                self._started.remove(item)
                self._up.add(item.program.name)
                self._progress.done(item.program.title, time.monotonic() - item.begun)


def _listed(programs: list[Program]) -> str:
    """Short enough for one line of a terminal."""
    titles = [program.title for program in programs[:LISTED]]
    more = len(programs) - len(titles)
    return ", ".join(titles) + (f" and {more} more" if more else "")


def _is_up(supervisor: Supervisor, item: _Started, places: Places) -> bool:
    program, state = item.program, supervisor.state(item.program.name)
    if program.ready is None:
        if state.status == "EXITED" and state.exit_status == 0:
            return True
    else:
        if state.status in {"STARTING", "RUNNING"} and program.ready():
            return True
        if state.pid:
            item.pids.add(state.pid)
    if state.status in ENDED or len(item.pids) > RESTARTS:
        raise StackFailed(f"{program.title} failed to start. {last_words(places, program.name)}")
    if time.monotonic() - item.begun > program.start_seconds:
        raise StackFailed(
            f"{program.title} was not ready within {program.start_seconds} s. {last_words(places, program.name)}"
        )
    return False


def last_words(places: Places, program: str, count: int = 12) -> str:
    """The end of a program's log and where the rest is."""
    log = places.log_of(program)
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        lines = []
    return f"The end of {log}:\n" + "\n".join(f"    {line[:300]}" for line in lines)
