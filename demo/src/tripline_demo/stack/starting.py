"""Starts the programs of a plan, wave by wave, and waits until each is up."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tripline_demo.errors import StackFailed
from tripline_demo.stack.places import Places
from tripline_demo.stack.program import Program, Wave
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.supervisor import ENDED, Supervisor

RESTARTS = 3
"""How often a program may end while it starts before the start is given up."""


@dataclass(slots=True)
class Waiting:
    """A program that was started and is not up yet."""

    program: Program
    begun: float
    pids: set[int]


def start(
    supervisor: Supervisor, waves: tuple[Wave, ...], places: Places, progress: Progress
) -> list[Waiting]:
    """Starts all waves; returns those programs that are to be awaited last.

    Raises StackFailed when a program fails or takes too long, with the end of its log.
    """
    last: list[Waiting] = []
    for wave in waves:
        started = []
        for program in wave:
            supervisor.start(program.name)
            started.append(Waiting(program, time.monotonic(), set()))
        wait(supervisor, [item for item in started if not item.program.awaited_last], places, progress)
        last += [item for item in started if item.program.awaited_last]
    return last


def wait(supervisor: Supervisor, waiting: list[Waiting], places: Places, progress: Progress) -> None:
    """Returns when all of them are up. Raises StackFailed as `start` does."""
    pending = list(waiting)
    with progress.waiting("starting …"):
        while pending:
            for item in list(pending):
                if _is_up(supervisor, item, places):
                    pending.remove(item)
                    progress.done(item.program.title, time.monotonic() - item.begun)
            if pending:
                names = ", ".join(item.program.title for item in pending)
                progress.now(f"waiting for {names} … {time.monotonic() - pending[0].begun:.0f} s")
                time.sleep(0.1)


def _is_up(supervisor: Supervisor, item: Waiting, places: Places) -> bool:
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
