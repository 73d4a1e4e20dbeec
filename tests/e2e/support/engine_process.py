"""The engine as a process of its own, and a process that runs its queries, one after another or at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import IO

import psutil

from tests import engine_economy
from tests.e2e.support.waiting import eventually
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.processes import leash, ports
from tripline_demo.stack.checks import http_ready
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.faults.engine_kill import kill_processes
from tripline_engine.spark.worker.jit_watch import LATE_COMPILATION

START_SECONDS = 150.0
STOP_SECONDS = 75.0
"""Long enough to write the archive of classes on a busy machine: only the first engine does."""
QUERY_SERVER = Path(__file__).with_name("query_server.py")


@dataclass(frozen=True, slots=True)
class Workplace:
    """What every engine of a test needs; its checkpoint and projection live in `folder`.

    :ivar more: settings beside the common ones
    """

    java: Java
    jars: Jars
    kafka: str
    folder: Path
    shards: int = 2
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def checkpoint(self) -> Path:
        """The engine's own files, with Spark's below."""
        return self.folder / "checkpoint"

    @property
    def projection(self) -> Path:
        """A cache that may be lost."""
        return self.folder / "projection"

    @property
    def archive(self) -> Path:
        """What an archiver writes to; nothing unless a test runs one."""
        return self.folder / "archive"

    @property
    def log(self) -> Path:
        """What the engine's processes say."""
        return self.folder / "engine.log"

    def environment(self, **more: str) -> dict[str, str]:
        """The engine's settings; `more` adds to them."""
        return {
            **os.environ,
            "JAVA_HOME": str(self.java.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "TRIPLINE_KAFKA": self.kafka,
            "TRIPLINE_CHECKPOINT": str(self.checkpoint),
            "TRIPLINE_PROJECTION_DIR": str(self.projection),
            "TRIPLINE_SHARDS": str(self.shards),
            "TRIPLINE_CLOCK": "data",
            "TRIPLINE_JARS": str(self.jars.engine),
            **engine_economy.settings(self.jars),
            "TRIPLINE_ARCHIVE": str(self.archive),
            "TRIPLINE_LOG_LEVEL": "warning",
            **self.more,
            **more,
        }


@dataclass(frozen=True, slots=True)
class RunningEngine:
    """`tripline-engine run`, on a leash."""

    process: leash.Leashed
    port: int

    def is_running(self) -> bool:
        """Whether it has not ended, of itself or by a signal."""
        return self.process.is_running()

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels, as it stands."""
        return metric_sum(self.port, name)


@contextmanager
def running_engine(workplace: Workplace, settings: Mapping[str, str]) -> Iterator[RunningEngine]:
    """`tripline-engine run` with these settings beside the common ones; stopped at the end if it still runs."""
    (port,) = ports.free_ports(1)
    environment = workplace.environment(TRIPLINE_METRICS_BIND=f"127.0.0.1:{port}", **settings)
    command = [str(Path(sys.executable).with_name("tripline-engine")), "run"]
    process = leash.start(command, log=workplace.log, environment=environment, stop_seconds=STOP_SECONDS)
    engine = RunningEngine(process, port)
    try:
        ready = http_ready(port)
        eventually(lambda: ready() or not engine.is_running(), "the engine is ready", START_SECONDS)
        assert engine.is_running(), engine.process.last_lines()
        yield engine
    finally:
        engine.process.stop()
    _assert_all_was_compiled(workplace)


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended; `code` is negative for a signal."""

    code: int
    said: str


def run_engine(workplace: Workplace, settings: Mapping[str, str], *words: str) -> Ended:
    """`tripline-engine` with these words and settings, until it ends by itself or is killed at a fault point.

    An empty setting is one that is not there.
    """
    (port,) = ports.free_ports(1)
    given = workplace.environment(TRIPLINE_METRICS_BIND=f"127.0.0.1:{port}", **settings)
    environment = {name: value for name, value in given.items() if value}
    command = [str(Path(sys.executable).with_name("tripline-engine")), *words]
    with workplace.log.open("ab") as log:
        log.write(f"tripline-engine {' '.join(words)}\n".encode())
        log.flush()
        done = subprocess.run(
            command, env=environment, stdout=log, stderr=log, timeout=START_SECONDS, check=False
        )
    said = workplace.log.read_text(errors="replace").rpartition(f"tripline-engine {' '.join(words)}\n")[2]
    return Ended(done.returncode, said)


class Queries:
    """A running `query_server.py`."""

    def __init__(self, workplace: Workplace, process: subprocess.Popen[str]) -> None:
        self._place, self._process = workplace, process
        self._talking = threading.Lock()

    @contextmanager
    def query(self, prefix: str, shards: int, most_per_batch: int, interval_ms: int = 0) -> Iterator[Path]:
        """A query on the topics of this prefix while the block runs; gives its folder with Spark's own files."""
        yield self.start(prefix, shards, most_per_batch, interval_ms=interval_ms)
        self._say(f"stop {prefix}")

    def start(
        self, prefix: str, shards: int, most_per_batch: int, fault: str = "", interval_ms: int = 0
    ) -> Path:
        """A query on the topics of this prefix, from where one before it got to; its folder with Spark's own files.

        :param fault: a fault point, and of how many
        """
        self._say(f"start {prefix} {shards} {most_per_batch} {interval_ms} {fault}".strip())
        return spark_folder(self._place.checkpoint / prefix)

    def kill(self) -> None:
        """SIGKILL to the driver, its JVM and its workers, whatever the queries are at."""
        kill_processes(self._process.pid)
        self._process.wait(60)

    def alive(self) -> bool:
        """Whether no query has failed."""
        return self._process.poll() is None

    def open_files(self) -> int:
        """How many files and sockets the driver, its JVM and its workers have open."""
        engine, total = psutil.Process(self._process.pid), 0
        for process in (engine, *engine.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += process.num_fds()
        return total

    def listening_ports(self) -> set[int]:
        """Where the driver's JVM takes connections."""
        ports = set()
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if process.name() == "java":
                    ports |= {
                        connection.laddr.port
                        for connection in process.net_connections("tcp")
                        if connection.status == "LISTEN"
                    }
        return ports

    def _say(self, words: str) -> None:
        with self._talking:
            _pipe(self._process.stdin).write(words + "\n")
            _pipe(self._process.stdin).flush()
            heard = _pipe(self._process.stdout).readline().strip()
        assert heard == words, self._place.log.read_text(errors="replace")[-3000:]


@contextmanager
def queries(workplace: Workplace) -> Iterator[Queries]:
    """The process; it ends when its standard input is closed, so it can't outlive this one."""
    with workplace.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(QUERY_SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=workplace.environment(),
        )
    try:
        yield Queries(workplace, process)
    finally:
        _pipe(process.stdin).close()
        _pipe(process.stdout).close()
        process.wait(STOP_SECONDS)
    _assert_all_was_compiled(workplace)


@contextmanager
def queries_until_killed(workplace: Workplace) -> Iterator[Queries]:
    """The process; killed when the block ends, if it has not been."""
    with queries(workplace) as process:
        try:
            yield process
        finally:
            process.kill()


def metric_sum(port: int, name: str) -> float:
    """The sum of a metric over its labels, as the engine on this port gives it."""
    # asked often: a client that loads certificates each time would take the machine from what it asks
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


def _assert_all_was_compiled(workplace: Workplace) -> None:
    late = [
        line for line in workplace.log.read_text(errors="replace").splitlines() if LATE_COMPILATION in line
    ]
    assert late == []


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
