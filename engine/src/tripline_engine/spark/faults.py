"""Killing the engine at a chosen point, for tests of recovery only.

Nothing here runs unless TRIPLINE_FAULT_POINT is set. Its form is `task:<text>:<marker file>` or
`sink:<text>:<marker file>`; <text> is an id that occurs in one transaction. The marker file is written, then the
engine, its JVM and its workers get SIGKILL:

- `task`: in the first task whose transactions hold <text>, after the shard's state was written and before any of its
  output has left the worker;
- `sink`: after all output of that task's micro-batch has been flushed to Kafka, and before the batch is committed.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pyspark import TaskContext
from pyspark.sql.streaming.query import StreamingQuery

from tripline_engine.domain.records import Kind, Payload
from tripline_engine.errors import BadSettings

_POLL_SECONDS: Final = 0.002
_WAIT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """Where to kill, what to wait for, where to say that it came, and which process is the engine's driver."""

    where: Literal["task", "sink"]
    text: bytes
    marker: Path
    driver_pid: int

    def reach_task(self, shard: int, payloads: Iterable[Payload]) -> None:
        """In a worker. Does nothing if this isn't the task, or if the marker says that it has happened already."""
        wanted = any(p.kind is Kind.TRANSACTIONS and self.text in p.data for p in payloads)
        if not wanted or self.marker.exists():
            return
        context = TaskContext.get()
        batch = context.getLocalProperty("streaming.sql.batchId") if context else None
        if self.where == "sink":
            self._ask_for_the_lock(batch)
            return
        self._mark({"shard": shard, "batch": batch})
        for pid in _ancestors(os.getpid(), self.driver_pid):
            os.kill(pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, query: StreamingQuery) -> None:
        """In the driver: for `sink`, a thread that keeps the micro-batch from its commit and then kills."""
        if self.where == "sink":
            threading.Thread(target=self._kill_at_commit, args=(query,), name="fault", daemon=True).start()

    def _kill_at_commit(self, query: StreamingQuery) -> None:
        """Spark commits a micro-batch, as it plans one, under a lock. Who waits for it is through with the sink."""
        while not self._asked.exists():
            time.sleep(_POLL_SECONDS)
        stream: Any = query._jsq.streamingQuery()  # noqa: SLF001  # there is no public way to that lock
        lock = stream.awaitProgressLock()
        lock.lock()
        batch = self._asked.read_text()
        self._held.touch()
        while not lock.hasQueuedThreads():
            time.sleep(_POLL_SECONDS)
        stack = [frame.getMethodName() for frame in stream.queryExecutionThread().getStackTrace()]
        self._mark({"batch": batch, "stack": stack})
        for pid in _below(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    def _ask_for_the_lock(self, batch: str | None) -> None:
        """The lock must be taken while the micro-batch runs: before that, it is used for planning."""
        new = self.marker.with_suffix(".new")
        new.write_text(str(batch))
        new.rename(self._asked)
        deadline = time.monotonic() + _WAIT_SECONDS
        while not self._held.exists() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    @property
    def _asked(self) -> Path:
        return self.marker.with_suffix(".asked")

    @property
    def _held(self) -> Path:
        return self.marker.with_suffix(".held")

    def _mark(self, found: dict[str, Any]) -> None:
        self.marker.write_text(json.dumps({"where": self.where, "pid": os.getpid(), **found}))


def parse_fault_point(text: str | None, driver_pid: int) -> FaultPoint | None:
    """None if there is no fault point. Raises BadSettings if it can't be read."""
    if not text:
        return None
    where, _, rest = text.partition(":")
    wanted, _, marker = rest.partition(":")
    if where not in ("task", "sink") or not wanted or not marker:
        raise BadSettings(f"TRIPLINE_FAULT_POINT: expected task:<text>:<marker file> or sink:…, not {text!r}")
    place: Literal["task", "sink"] = "task" if where == "task" else "sink"
    return FaultPoint(place, wanted.encode(), Path(marker).absolute(), driver_pid)


def _ancestors(pid: int, last: int) -> Iterator[int]:
    """The process ids above pid, up to and with `last`."""
    while pid not in (last, 0):
        pid = _parent(pid)
        if pid > 1:
            yield pid


def _parent(pid: int) -> int:
    # "pid (name) state ppid …"; the name may hold anything, so read behind its closing parenthesis
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _below(top: int) -> list[int]:
    """Every process below `top`, as they stand."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    parents: dict[int, int] = {}
    for pid in pids:
        try:
            parents[pid] = _parent(pid)
        except OSError:
            continue  # it has ended meanwhile
    found = [top]
    for above in found:
        found += [pid for pid, parent in parents.items() if parent == above]
    return found[1:]
