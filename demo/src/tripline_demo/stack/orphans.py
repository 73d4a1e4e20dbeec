"""Finds and ends what a stack left behind, when its supervisor was killed and could not.

A process is ours when it inherited the stack's marker in its environment, with this stack's folder as the value.
Postgres overwrites its environment with its title, so it is known by its working directory: its data. Process ids
are never taken from a file, so a number that meanwhile belongs to somebody else harms nobody.
"""

from __future__ import annotations

import contextlib
import os
import signal

import psutil

from tripline_demo.stack.places import Places
from tripline_demo.stack.supervisor import MARKER

STOP_SECONDS = 15
_STORES = ("kafka.Kafka", "postgres")


def find(places: Places) -> list[psutil.Process]:
    """The living processes of this stack, without ourselves and those that started us."""
    ourselves = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    return [p for p in psutil.process_iter() if p.pid not in ourselves and _is_ours(p, places)]


def _is_ours(process: psutil.Process, places: Places) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if process.environ().get(MARKER) == str(places.var):
            return True
        return process.name() == "postgres" and process.cwd() == str(places.postgres / "data")
    except (psutil.Error, OSError):  # gone meanwhile, or somebody else's
        return False


def end(places: Places) -> int:
    """Ends them: clients first, then the stores they write to. Returns how many processes there were."""
    processes = find(places)
    supervisors = [p for p in processes if _runs(p, "supervisor.supervisord")]
    _end(supervisors, signal.SIGKILL)  # it does not answer, and would restart what is ended below
    stores = [p for p in processes if p not in supervisors and any(_runs(p, name) for name in _STORES)]
    _end([p for p in processes if p not in supervisors and p not in stores], signal.SIGTERM)
    _end([p for p in stores if _runs(p, "kafka.Kafka")], signal.SIGTERM)
    _end([p for p in stores if _is_postmaster(p)], signal.SIGINT)
    _end(find(places), signal.SIGKILL)
    return len(processes)


def is_running(pid: int) -> bool:
    """Whether that process lives (a zombie does not)."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _runs(process: psutil.Process, word: str) -> bool:
    try:
        return process.name() == word or word in process.cmdline()
    except psutil.Error:
        return False


def _is_postmaster(process: psutil.Process) -> bool:
    try:
        parent = process.parent()
        return process.name() == "postgres" and (parent is None or parent.name() != "postgres")
    except psutil.Error:
        return False


def _end(processes: list[psutil.Process], how: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(how)
    _, alive = psutil.wait_procs(processes, timeout=STOP_SECONDS)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=STOP_SECONDS)
