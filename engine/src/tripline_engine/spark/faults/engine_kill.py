"""SIGKILL to a whole engine at once: driver, JVM and workers. For tests of recovery."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def kill_engine(driver: int) -> None:
    """Kills every process below the driver, from the top, then the driver, then the calling one: doesn't return."""
    kill_processes(driver)
    os.kill(os.getpid(), signal.SIGKILL)


def kill_processes(driver: int) -> None:
    """Kills every process below the driver, from the top, then the driver; the calling one lives on."""
    for pid in [*_below(driver), driver]:
        if pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _below(top: int) -> list[int]:
    """Descendants of process `top`, parents before their children."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    parents: dict[int, int] = {}
    for pid in pids:
        try:
            parents[pid] = _parent(pid)
        except OSError:
            continue  # it has ended meanwhile
    tree = [top]
    for ancestor in tree:
        tree += [pid for pid, parent in parents.items() if parent == ancestor]
    return tree[1:]


def _parent(pid: int) -> int:
    # "pid (name) state ppid …"; the name may hold anything, so read behind its closing parenthesis
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
