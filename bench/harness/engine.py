"""A broker and the engine alone, as processes of their own. The engine can be killed as a crash does.

And what it takes of memory and disk.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import httpx
import psutil

from bench.figures import results
from bench.figures.results import Result
from bench.harness.stack import BenchFailed
from tripline_contracts import topics as contract
from tripline_contracts.installed import SETTING
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import paths, topics
from tripline_demo.deployment import secret_files
from tripline_demo.embedded import kafka
from tripline_demo.embedded.broker_security import BrokerSecurity
from tripline_demo.embedded.jars import Jars, ensure
from tripline_demo.embedded.java import Java, find_java
from tripline_demo.processes import leash, ports
from tripline_engine.spark.driver.disk_space import disk_bytes
from tripline_engine.spark.faults.engine_kill import kill_processes
from tripline_engine.spark.worker.jit_watch import LATE_COMPILATION
from tripline_engine.topic_names import TRANSACTIONS

PROJECTION_DIR: Final = "TRIPLINE_BENCH_PROJECTION_DIR"
"""Names the folder below which mapped files are; else they are beside the others."""
_WORKERS: Final = "tripline_engine.spark.worker.worker_daemon"


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where an engine runs: the broker, for clients that may do everything, and a folder for all its files."""

    java: Java
    jars: Jars
    cluster: KafkaCluster
    folder: Path

    @property
    def kafka(self) -> str:
        """The broker's address."""
        return self.cluster.servers

    @property
    def log(self) -> Path:
        """What the engine's processes say."""
        return self.folder / "engine.log"

    @property
    def checkpoint(self) -> Path:
        """What the engine goes on from."""
        return self.folder / "checkpoint"

    @property
    def projection(self) -> Path:
        """Its memory-mapped files: beside the others, unless TRIPLINE_BENCH_PROJECTION_DIR names a place (/dev/shm)."""
        return _elsewhere(self.folder) / "projection"

    def state_bytes(self) -> int:
        """What Spark keeps of the state logs on the disk, and the files of what is large in them."""
        return sum(map(disk_bytes, (self.checkpoint / "spark" / "state", self.checkpoint / "segments")))


def _elsewhere(folder: Path) -> Path:
    """The same folder below the one that is named for mapped files: nothing else of that is touched."""
    return Path(os.environ.get(PROJECTION_DIR, folder.anchor)) / folder.relative_to(folder.anchor)


@dataclass(frozen=True, slots=True)
class Running:
    """An engine's process; `started_at` in seconds of the monotonic clock."""

    process: leash.Leashed
    started_at: float
    port: int

    def check(self) -> None:
        """Raises BenchFailed with the end of its log if it has ended."""
        if not self.process.is_running():
            raise BenchFailed(f"the engine ended:\n{self.process.last_lines()}")

    def metrics(self) -> str:
        """Its metrics as Prometheus reads them."""
        return httpx.get(f"http://{ports.LOOPBACK}:{self.port}/metrics", timeout=10, trust_env=False).text

    def worker_bytes(self) -> int:
        """Memory of the Python workers and the process that they are forked from; shared pages by their share."""
        total = 0
        for process in psutil.Process(self.process.process.pid).children(recursive=True):
            try:
                if _WORKERS in process.cmdline():
                    total += process.memory_full_info().pss
            except psutil.NoSuchProcess:
                continue  # it has ended meanwhile
        return total

    def kill(self) -> None:
        """SIGKILL to the driver, its JVM and its workers, whatever they are at."""
        kill_processes(self.process.process.pid)
        self.process.process.wait(60)

    def stop(self) -> None:
        """As an operator stops it."""
        self.process.stop()


@contextmanager
def broker(purpose: str, *, secured: bool = False, partitions: int | None = None) -> Iterator[Workplace]:
    """A broker with the contract's topics, in a folder that goes with it; over SASL and TLS where it is secured.

    :param partitions: of the payments' topic; else the contract's
    """
    var = paths.var_folder()
    java = find_java(os.environ, var / "java")
    jars = ensure(paths.project_root(), var, java)
    folder = Path(tempfile.mkdtemp(prefix=f"tripline-{purpose}-"))
    try:
        security = _security(folder / "secrets") if secured else None
        with kafka.running(java, jars.broker, folder / "kafka", security=security) as running:
            topics.create(running.administrator, _topics(partitions), clock="data")
            yield Workplace(java, jars, running.administrator, folder)
    finally:
        for directory in {folder, _elsewhere(folder)}:
            shutil.rmtree(directory, ignore_errors=True)


def _topics(partitions: int | None) -> list[contract.Topic]:
    return [
        replace(topic, partitions=partitions) if partitions and topic.name == TRANSACTIONS else topic
        for topic in contract.all_topics()
    ]


def _security(secrets: Path) -> BrokerSecurity:
    secret_files.make(secrets, secret_files.owner_here())
    return secret_files.broker_security(secrets)


def compiled_late(log: Path) -> Result:
    """How many kernels an engine with this log compiled while it was measured: what is measured then is something else.

    A warm-up that leaves some is a fault, which numba's cache on the disk hides from the second run on.
    """
    count = log.read_text(encoding="utf-8", errors="replace").count(LATE_COMPILATION)
    return results.at_most("kernels compiled in the middle of a micro-batch", count, "", 0)


@dataclass(frozen=True, slots=True)
class Cores:
    """The processor cores that a measured process may use: the first so many of this machine, and no others."""

    count: int

    @property
    def prefix(self) -> list[str]:
        """What stands before its command."""
        return ["taskset", "--cpu-list", f"0-{self.count - 1}"]


def start(
    workplace: Workplace,
    shards: int,
    per_batch: int | None = None,
    declared: Path | None = None,
    cores: Cores | None = None,
) -> Running:
    """Starts the engine on the checkpoint that is there, or on a new one.

    :param per_batch: payments in a micro-batch; else the engine's own limit
    :param declared: the file that declares the event type; else the one that ships
    :param cores: the cores that it gets; else what the environment says, on all that there are
    """
    (port,) = ports.free_ports(1)
    workplace.folder.mkdir(exist_ok=True)
    folders = {
        "TRIPLINE_CHECKPOINT": workplace.checkpoint,
        "TRIPLINE_PROJECTION_DIR": workplace.projection,
        "TRIPLINE_JARS": workplace.jars.engine,
        "SPARK_LOCAL_DIRS": workplace.folder / "scratch",
        "JAVA_HOME": workplace.java.home,
    }
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **workplace.cluster.variables(),
        "TRIPLINE_SHARDS": str(shards),
        "TRIPLINE_CLOCK": "data",
        **({} if per_batch is None else {"TRIPLINE_MAX_TRANSACTIONS_PER_BATCH": str(per_batch)}),
        "TRIPLINE_METRICS_BIND": f"{ports.LOOPBACK}:{port}",
        "TRIPLINE_LOG_LEVEL": "warning",
        SETTING: "" if declared is None else str(declared),
        **{name: str(path) for name, path in folders.items()},
        **({} if cores is None else {"TRIPLINE_SPARK_MASTER": f"local[{cores.count}]"}),
    }
    command = [str(Path(sysconfig.get_path("scripts")) / "tripline-engine"), "run"]
    started_at = time.monotonic()
    process = leash.start(
        [*(cores.prefix if cores else ()), *command], log=workplace.log, environment=environment
    )
    return Running(process, started_at, port)


def lose_projection(workplace: Workplace) -> None:
    """Removes the memory-mapped files, as a machine does that is started anew elsewhere."""
    shutil.rmtree(workplace.projection)
