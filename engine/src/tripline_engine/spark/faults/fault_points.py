"""Killing the engine at a chosen point, for tests of recovery only.

Nothing here runs unless TRIPLINE_FAULT_POINT is set. Its form is `<point>:<text>:<marker file>`; <text> is something
that occurs in one transaction. The marker file is written, then the engine, its JVM and its workers get SIGKILL. In the
order in which a micro-batch comes to them, the points are

- `plan`: the micro-batch is planned, and the record batch with <text> reaches packing: nothing of it has been parsed,
  and no shard has seen anything;
- `task`: in the first task whose transactions hold <text>, after the shard's state was written and before any of its
  output has left the worker;
- `flush`: that task stands there, and the tasks of all other shards have flushed their output to Kafka and are done;
- `commit`: all output of the micro-batch has been flushed, and Spark is about to commit it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from pyspark import SparkContext, TaskContext
from pyspark.sql.streaming.query import StreamingQuery

from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.errors import BadSettings
from tripline_engine.spark.faults.engine_kill import kill_engine

if TYPE_CHECKING:
    import pyarrow as pa

Point = Literal["plan", "task", "flush", "commit"]

_POLL_SECONDS: Final = 0.002
_WAIT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """A point at which to kill: its text to wait for, its marker file, and the engine's driver process.

    :ivar company: number of fault points, with markers of one suffix in the same folder, that wait for each other
        before the process that they share is killed
    """

    where: Point
    text: bytes
    marker: Path
    driver_pid: int
    company: int = 1

    def reach_plan(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker that packs. Passes on batches before the one with the text; all if this isn't the point."""
        for batch in batches:
            if self.where == "plan" and not self.marker.exists() and self._is_in(batch):
                self._kill(_task())
            yield batch

    def reach_task(self, shard: int, payloads: Iterable[Payload]) -> None:
        """In a shard's worker. Does nothing if this isn't the task, or if the marker says that it has happened."""
        has_text = any(p.kind is Kind.TRANSACTIONS and self.text in p.data for p in payloads)
        if not has_text or self.where == "plan" or self.marker.exists():
            return
        if self.where == "task":
            self._kill({"shard": shard, **_task()})
        elif self._ask({"shard": shard, **_task()}):
            self._wait()

    def watch(self, query: StreamingQuery) -> None:
        """In the driver: for `flush` and `commit`, a thread that kills when a task has asked and its time has come."""
        if self.where in ("flush", "commit"):
            threading.Thread(target=self._kill_when_asked, args=(query,), name="fault", daemon=True).start()

    def _kill_when_asked(self, query: StreamingQuery) -> None:
        while not self._asked.exists():
            time.sleep(_POLL_SECONDS)
        asked = json.loads(self._asked.read_text())
        if self.where == "flush":
            _until_all_but_one_are_done(asked["stage"])
            self._kill(asked)
        else:
            self._kill({**asked, "stack": self._until_commit(query)})

    def _until_commit(self, query: StreamingQuery) -> list[str]:
        """Spark commits a micro-batch, as it plans one, under a lock. Who waits for it is through with the sink.

        Returns the names of the methods that it waits in.
        """
        stream: Any = query._jsq.streamingQuery()  # noqa: SLF001  # there is no public way to that lock
        lock = stream.awaitProgressLock()
        lock.lock()
        self._held.touch()
        while not lock.hasQueuedThreads():
            time.sleep(_POLL_SECONDS)
        return [frame.getMethodName() for frame in stream.queryExecutionThread().getStackTrace()]

    def _is_in(self, batch: pa.RecordBatch) -> bool:
        return any(self.text in value for value in batch["value"].to_pylist() if value is not None)

    def _ask(self, task: dict[str, Any]) -> bool:
        """Signals the driver that a task is at the point. False if another one is: shards share transactions."""
        new = self.marker.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(task))
        try:
            self._asked.hardlink_to(new)
        except FileExistsError:
            return False
        return True

    def _wait(self) -> None:
        """For the end, or for the lock: it must be taken while the micro-batch runs, and serves planning before."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while not self._held.exists() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    @property
    def _asked(self) -> Path:
        return self.marker.with_suffix(".asked")

    @property
    def _held(self) -> Path:
        return self.marker.with_suffix(".held")

    def _kill(self, task: dict[str, Any]) -> None:
        new = self.marker.with_suffix(f".{os.getpid()}.new")
        new.write_text(json.dumps({"where": self.where, "pid": os.getpid(), **task}))
        new.replace(self.marker)  # whole, or not there: another one may kill at once
        alike = f"*{self.marker.suffix}"
        while sum(1 for _ in self.marker.parent.glob(alike)) < self.company:
            time.sleep(_POLL_SECONDS)
        kill_engine(self.driver_pid)


def parse_fault_point(text: str | None, driver_pid: int) -> FaultPoint | None:
    """None if there is no fault point. Raises BadSettings if it can't be read."""
    if not text:
        return None
    where, _, rest = text.partition(":")
    awaited, _, marker = rest.partition(":")
    points = get_args(Point)
    if where not in points or not awaited or not marker:
        raise BadSettings(
            f"TRIPLINE_FAULT_POINT: expected <point>:<text>:<marker file>, the point one of {', '.join(points)},"
            f" not {text!r}"
        )
    return FaultPoint(cast("Point", where), awaited.encode(), Path(marker).absolute(), driver_pid)


def _task() -> dict[str, Any]:
    """Micro-batch and stage of the task that this worker is at."""
    context = TaskContext.get()
    assert context is not None
    return {"batch": context.getLocalProperty("streaming.sql.batchId"), "stage": context.stageId()}


def _until_all_but_one_are_done(stage: int) -> None:
    """Returns when every task of the stage but one is complete, its output flushed."""
    tracker = SparkContext.getOrCreate().statusTracker()
    while True:
        info = tracker.getStageInfo(stage)
        if info is not None and info.numCompletedTasks == info.numTasks - 1:
            return
        time.sleep(_POLL_SECONDS)
