"""Stops a stack in order, and makes sure that nothing of it is left."""

from __future__ import annotations

import shutil
import time

from tripline_demo.errors import StackFailed
from tripline_demo.stack import orphans
from tripline_demo.stack.places import Places
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.supervisor import ENDED, Supervisor

SHUTDOWN_SECONDS = 30


def stop(places: Places, progress: Progress) -> bool:
    """Stops programs in the opposite order of their start, then the supervisor. False when there was nothing to stop.

    A supervisor that was killed or does not answer is no obstacle: its processes are found and ended.
    """
    supervisor = Supervisor(places.socket)
    was_up = supervisor.is_up()
    if was_up:
        try:
            _stop_programs(supervisor, progress)
        except StackFailed as failure:
            progress.note(f"{failure}")
    ended = orphans.end(places)
    if ended:
        progress.note(f"{ended} processes were left behind and have been ended")
    places.stack_file.unlink(missing_ok=True)
    places.socket.unlink(missing_ok=True)
    return was_up or ended > 0


def _stop_programs(supervisor: Supervisor, progress: Progress) -> None:
    for state in reversed(supervisor.states()):
        if state.status not in ENDED:
            with progress.step(f"{state.name} stopped"):
                supervisor.stop(state.name)
    pid = supervisor.pid()
    supervisor.shutdown()
    deadline = time.monotonic() + SHUTDOWN_SECONDS
    while orphans.is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)


def forget(places: Places) -> None:
    """Removes the data of a stopped stack; jars and logs stay."""
    for path in places.data():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
