"""A Spark standalone cluster on loopback: a master, and workers that share nothing but the checkpoint's address.

Each worker has a scratch folder, a projection folder and a session of processes of its own, as on a machine of its own.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pyspark

from tests.e2e.support.waiting import eventually
from tripline_demo.embedded.java import Java
from tripline_demo.processes import leash, ports
from tripline_engine.spark.faults.engine_kill import kill_processes
from tripline_engine.spark.query.processor import WORKERS_FOLDER

_SPARK: Final = Path(pyspark.__file__).parent
_DEPLOY: Final = "org.apache.spark.deploy"
_START_SECONDS: Final = 90.0


@dataclass(slots=True)
class Worker:
    """One worker with one core; everything it starts is below `process`."""

    process: leash.Leashed
    folder: Path

    @property
    def projections(self) -> set[str]:
        """The shards that it has had, as `<engine id>/shard-<n>`."""
        root = self.folder / "projection"
        return {str(path.relative_to(root)) for path in root.glob("*/shard-*") if path.is_dir()}

    def kill(self) -> None:
        """SIGKILL to the worker, its executors and their Python processes: what a machine that is gone looks like."""
        kill_processes(self.process.process.pid)
        self.process.stop()  # nothing is left to stop: this end of the leash


@dataclass(slots=True)
class Cluster:
    """A master and the workers that were started."""

    java: Java
    folder: Path
    address: str
    status: str
    configuration: Path
    workers: list[Worker] = field(default_factory=list)

    def add_worker(self) -> Worker:
        """Returns once the master knows it."""
        folder = self.folder / f"worker-{len(self.workers)}"
        folder.mkdir()
        before = self.alive()
        words = [f"{_DEPLOY}.worker.Worker", "--host", ports.LOOPBACK, "--cores", "1", "--memory", "2g"]
        words += ["--webui-port", "0", "--work-dir", str(folder / "work"), self.address]
        variables = {
            "SPARK_LOCAL_DIRS": str(folder / "scratch"),
            WORKERS_FOLDER: str(folder / "projection"),
            **self.environment,
        }
        worker = Worker(_start(self.java, words, folder / "worker.log", variables), folder)
        self.workers.append(worker)
        eventually(
            lambda: self.alive() > before or not worker.process.is_running(), "a worker joins", _START_SECONDS
        )
        assert worker.process.is_running(), worker.process.last_lines()
        return worker

    @property
    def environment(self) -> dict[str, str]:
        """What master, workers and drivers need to know each other."""
        return {"SPARK_CONF_DIR": str(self.configuration)}

    def alive(self) -> int:
        """How many workers the master takes for alive."""
        return sum(worker["state"] == "ALIVE" for worker in self._told()["workers"])

    def cores_used(self) -> int:
        """By executors: one each."""
        return int(self._told()["coresused"])

    def is_up(self) -> bool:
        """Whether the master says anything; its page comes later than its port."""
        try:
            return httpx.get(self.status).is_success
        except httpx.TransportError:
            return False

    def _told(self) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.get(self.status).raise_for_status().json()
        return answer


@contextmanager
def cluster(java: Java, folder: Path, workers: int) -> Iterator[Cluster]:
    """A running cluster with so many workers; all of it ends with the block."""
    port, web = ports.free_ports(2)
    words = [
        f"{_DEPLOY}.master.Master",
        "--host",
        ports.LOOPBACK,
        "--port",
        str(port),
        "--webui-port",
        str(web),
    ]
    cluster = Cluster(
        java,
        folder,
        f"spark://{ports.LOOPBACK}:{port}",
        f"http://{ports.LOOPBACK}:{web}/json/",
        _configuration(folder),
    )
    master = _start(java, words, folder / "master.log", cluster.environment)
    try:
        eventually(lambda: cluster.is_up() or not master.is_running(), "the master is up", _START_SECONDS)
        assert master.is_running(), master.last_lines()
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        for worker in cluster.workers:
            if worker.process.is_running():
                worker.process.stop()
        master.stop()


def _configuration(folder: Path) -> Path:
    """A SPARK_CONF_DIR with the shared secret, as docs/scaling.md says."""
    conf_dir = folder / "configuration"
    conf_dir.mkdir(mode=0o700)
    defaults = {
        "spark.authenticate": "true",
        "spark.authenticate.secret": secrets.token_hex(32),
        "spark.network.crypto.enabled": "true",
    }
    file = conf_dir / "spark-defaults.conf"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {value}\n" for name, value in defaults.items()), encoding="utf-8")
    return conf_dir


def _start(java: Java, words: list[str], log: Path, more: dict[str, str]) -> leash.Leashed:
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(_SPARK),
        "SPARK_LOCAL_IP": ports.LOOPBACK,
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        **more,
    }
    return leash.start([str(_SPARK / "bin" / "spark-class"), *words], log=log, environment=environment)
