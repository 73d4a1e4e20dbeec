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
class _Waiting:
    program: Program
    begun: float
    pids: set[int]


def start(supervisor: Supervisor, waves: tuple[Wave, ...], places: Places, progress: Progress) -> None:
    """Raises StackFailed when a program fails or takes too long, with the end of its log."""
    for wave in waves:
        waiting = []
        for program in wave:
            supervisor.start(program.name)
            waiting.append(_Waiting(program, time.monotonic(), set()))
        with progress.waiting("starting …"):
            _wait(supervisor, waiting, places, progress)


def _wait(supervisor: Supervisor, waiting: list[_Waiting], places: Places, progress: Progress) -> None:
    while waiting:
        for item in list(waiting):
            if _is_up(supervisor, item, places):
                waiting.remove(item)
                progress.done(item.program.title, time.monotonic() - item.begun)
        if waiting:
            names = ", ".join(item.program.title for item in waiting)
            progress.now(f"waiting for {names} … {time.monotonic() - waiting[0].begun:.0f} s")
            time.sleep(0.1)


def _is_up(supervisor: Supervisor, item: _Waiting, places: Places) -> bool:
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
