"""A broker and an engine of the benchmark's own, in a temporary folder; both end with this process."""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tripline_demo import kafka, leash, paths, ports, topics
from tripline_demo.jars import ensure
from tripline_demo.java import find_java

READY_SECONDS = 150


class BenchFailed(Exception):
    """The measurement could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine and the address of its metrics."""

    process: leash.Leashed
    url: str

    def check(self) -> None:
        """Raises BenchFailed with the end of its log if it has ended."""
        if not self.process.is_running():
            raise BenchFailed(f"the engine ended:\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of its log, short enough to read."""
        return "\n".join(line[:400] for line in self.process.last_lines(5).splitlines())

    def is_ready(self) -> bool:
        """Its first micro-batch is done."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=3, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False


@dataclass(frozen=True, slots=True)
class Stack:
    """What a benchmark needs to start its parts."""

    folder: Path
    bootstrap_servers: str
    java_home: Path
    jars: Path

    @contextmanager
    def engine(self, shards: int) -> Iterator[Engine]:
        """A fresh engine, told nothing but where things are."""
        port = ports.free_ports(1)[0]
        home = self.folder / "engine"
        home.mkdir()
        environment = {
            **os.environ,
            "JAVA_HOME": str(self.java_home),
            "SPARK_LOCAL_IP": ports.LOOPBACK,
            "SPARK_LOCAL_DIRS": str(home / "scratch"),
            "PYSPARK_PYTHON": sys.executable,
            "TRIPLINE_KAFKA": self.bootstrap_servers,
            "TRIPLINE_CHECKPOINT": str(home / "checkpoint"),
            "TRIPLINE_PROJECTION_DIR": str(home / "projection"),
            "TRIPLINE_SHARDS": str(shards),
            "TRIPLINE_CLOCK": "wall",
            "TRIPLINE_SPARK_MASTER": "local[2]",
            "TRIPLINE_JARS": str(self.jars),
            "TRIPLINE_METRICS_BIND": f"{ports.LOOPBACK}:{port}",
        }
        command = [str(Path(sysconfig.get_path("scripts")) / "tripline-engine"), "run"]
        process = leash.start(command, log=self.folder / "engine.log", environment=environment)
        try:
            yield Engine(process, f"http://{ports.LOOPBACK}:{port}")
        finally:
            process.stop()


@contextmanager
def stack(folder: Path) -> Iterator[Stack]:
    """A broker with the contract's topics."""
    var = paths.var_folder()
    java = find_java(os.environ, var / "java")
    jars = ensure(paths.project_root(), var, java)
    with kafka.running(java, jars.broker, folder / "kafka") as broker:
        topics.create(broker.bootstrap_servers)
        yield Stack(folder, broker.bootstrap_servers, java.home, jars.engine)


def wait_until_ready(engine: Engine) -> float:
    """Seconds it took. Raises BenchFailed."""
    begin = time.monotonic()
    while not engine.is_ready():
        engine.check()
        if time.monotonic() - begin > READY_SECONDS:
            raise BenchFailed(f"the engine was not ready within {READY_SECONDS} s:\n{engine.last_words()}")
        time.sleep(0.2)
    return time.monotonic() - begin
