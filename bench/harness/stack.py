"""The line of `tripline demo`, by default without traffic and rules, in a folder of its own; ends with this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.harness.output_reader import create_probe
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_demo import paths
from tripline_demo.embedded.jars import ensure
from tripline_demo.embedded.java import find_java
from tripline_demo.processes import leash, ports
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS

READY_SECONDS = 240


class BenchFailed(Exception):
    """The measurement could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A running line: addresses, keys of an analyst and of operations, and the logs of its processes."""

    kafka: KafkaCluster
    registry: str
    alert_api: str
    generator: str
    key: str
    operations_key: str
    engine_metrics: str
    process: leash.Leashed
    places: Places

    def check(self) -> None:
        """Raises BenchFailed with the end of the engine's log if the line has ended or the engine is not well."""
        if not self.process.is_running():
            raise BenchFailed(f"the line ended:\n{self.process.last_lines()}")

    def metrics(self) -> str:
        """The engine's metrics as Prometheus reads them."""
        return httpx.get(f"{self.engine_metrics}/metrics", timeout=10, trust_env=False).text


@contextmanager
def stack(folder: Path, *options: str) -> Iterator[Stack]:
    """Starts it and waits until all of it is ready. Raises BenchFailed.

    :param options: of `tripline demo`; by default it has no traffic, and the data's clock
    """
    places = _places(folder)
    environment = {**os.environ, "TRIPLINE_VAR": str(places.var), "TRIPLINE_EVENT_TYPE": "transaction"}
    # as a deployment has it, not as a machine that other programs want too
    if not options:
        environment["TRIPLINE_BATCH_INTERVAL_MS"] = "0"

    def down() -> None:
        subprocess.run([_tripline(), "down"], env=environment, capture_output=True, check=False)

    # with the clock of the wall, a line that is at rest for half a minute finds what is preloaded too late; with
    # payments on both partitions, as there are throughout, the two are the same
    command = [_tripline(), "demo", *(options or ("--no-traffic", "--clock=data"))]
    process = leash.start(
        command, log=folder / "demo.log", environment=environment, stop_signal=signal.SIGTERM
    )
    try:
        _wait(process, places)
        written = json.loads(places.stack_file.read_text(encoding="utf-8"))
        port = ports.load(_ports_file(places))["engine"]
        kafka = kafka_cluster(written["kafkaAdministrator"])
        create_probe(kafka)
        yield Stack(
            kafka, written["rulesRegistry"], written["alertApi"], written["generator"],
            written["apiKeys"]["analyst"], written["apiKeys"]["ops"],
            f"http://{ports.LOOPBACK}:{port}", process, places,
        )  # fmt: skip
    finally:
        # The leash alone is for this process's sudden end: it waits for twenty seconds only. A line that is still
        # starting refuses the first `down`, and the second one then finds what is left of it.
        for stop in (down, process.stop, down):
            stop()


def _tripline() -> str:
    return str(Path(sysconfig.get_path("scripts")) / "tripline")


def _places(folder: Path) -> Places:
    """Jars and Java are the checkout's, ports are nobody's."""
    var = paths.var_folder()
    ensure(paths.project_root(), var, find_java(os.environ, var / "java"))
    places = Places(folder / "var")
    places.make()
    for name in ("jars", "java"):
        (var / name).mkdir(exist_ok=True)
        (places.var / name).symlink_to(var / name)
    ports.save(_ports_file(places), dict(zip(PORTS, ports.free_ports(len(PORTS)), strict=True)))
    return places


def _ports_file(places: Places) -> Path:
    return places.run / "ports.json"


def _wait(process: leash.Leashed, places: Places) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not places.stack_file.exists():
        if not process.is_running():
            raise BenchFailed(f"the line did not start:\n{process.last_lines()}")
        if time.monotonic() > deadline:
            raise BenchFailed(f"the line was not up within {READY_SECONDS} s:\n{process.last_lines()}")
        time.sleep(0.1)
