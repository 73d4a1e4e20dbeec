"""Killing the engine in the middle of a task, for tests of recovery only.

Nothing here runs unless TRIPLINE_FAULT_POINT is set. Its form is `task:<text>:<marker file>`. In the first task whose
transactions hold <text> (an id that occurs once), after the shard's state was written and before any of its output
has left the worker, the marker file is written and the engine, its JVM and this worker get SIGKILL.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark import TaskContext

from tripline_engine.domain.records import Kind, Payload
from tripline_engine.errors import BadSettings


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """What to wait for, where to say that it came, and which process is the engine's driver."""

    text: bytes
    marker: Path
    driver_pid: int

    def reach_task(self, shard: int, payloads: Iterable[Payload]) -> None:
        """Kills everything if this is the task. A marker that exists says that it has happened already."""
        wanted = any(p.kind is Kind.TRANSACTIONS and self.text in p.data for p in payloads)
        if not wanted or self.marker.exists():
            return
        context = TaskContext.get()
        batch = context.getLocalProperty("streaming.sql.batchId") if context else None
        self.marker.write_text(
            json.dumps({"where": "task", "shard": shard, "batch": batch, "pid": os.getpid()})
        )
        for pid in _ancestors(os.getpid(), self.driver_pid):
            os.kill(pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def parse_fault_point(text: str | None, driver_pid: int) -> FaultPoint | None:
    """None if there is no fault point. Raises BadSettings if it can't be read."""
    if not text:
        return None
    where, _, rest = text.partition(":")
    wanted, _, marker = rest.partition(":")
    if where != "task" or not wanted or not marker:
        raise BadSettings(f"TRIPLINE_FAULT_POINT: expected task:<text>:<marker file>, not {text!r}")
    return FaultPoint(wanted.encode(), Path(marker).absolute(), driver_pid)


def _ancestors(pid: int, last: int) -> Iterator[int]:
    """The process ids above pid, up to and with `last`."""
    while pid not in (last, 0):
        # "pid (name) state ppid …"; the name may hold anything, so read behind its closing parenthesis
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid > 1:
            yield pid
