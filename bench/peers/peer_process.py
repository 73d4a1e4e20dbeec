"""A peer beside the engine: an environment of its own, a process in it, and what it has sent to Kafka."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.figures import results
from bench.figures.results import Result
from bench.harness.stack import BenchFailed
from bench.peers import blaze_process, quix_process
from tripline_demo import paths
from tripline_demo.processes import leash

Run = blaze_process.Run | quix_process.Run


def installed(package: str, version: str) -> Path:
    """The Python of an environment that holds that package; it is made when it is not there."""
    folder = paths.var_folder() / "peers" / f"{package}-{version}"
    python, done = folder / "bin" / "python", folder / "complete"
    if not done.exists():
        uv = str(Path(sysconfig.get_path("scripts")) / "uv")
        _succeed([uv, "venv", "-q", "--clear", "--python", sys.executable, str(folder)])
        _succeed([uv, "pip", "install", "-q", "--python", str(python), f"{package}=={version}"])
        done.touch()
    return python


def _succeed(command: Sequence[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise BenchFailed(f"the peer could not be installed:\n{ended.stderr[-2_000:]}")


def measured(python: Path, module: str, folder: Path, run: Run, name: str) -> tuple[float, list[Result]]:
    """Payments a second of that run by that module of this package, and the rows of the table that `name` heads.

    The module is given a file with the run, and writes its figures as the last line; its log is in `folder`.
    """
    file, log = folder / f"{run.name}.json", folder / f"{run.name}.log"
    file.write_text(run.text(), encoding="utf-8")
    process = leash.start(
        [str(python), "-m", module, str(file)],
        log=log,
        environment={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        while process.is_running():
            time.sleep(0.2)
    finally:
        process.stop()
    if process.process.returncode:
        raise BenchFailed(f"{run.name} failed:\n{process.last_lines()}")
    figures = json.loads(process.last_lines(1))
    return figures["rate"], [
        results.told(name, figures["rate"], "payments/s"),
        results.told(f"{name}: with the first quarter", figures["whole"], "payments/s"),
        results.told(f"{name}: processor time of a payment", figures["cpu_us"], "µs"),
    ]


def create(bootstrap_servers: str, topic: str) -> None:
    """Creates a topic of one partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])[topic].result(30)


def records(bootstrap_servers: str, topic: str) -> list[tuple[bytes, bytes]]:
    """Key and value of all there are in its only partition: the peer has ended."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "bench", "enable.auto.commit": False}
    )
    partition = TopicPartition(topic, 0, 0)
    records: list[tuple[bytes, bytes]] = []
    try:
        _, end = consumer.get_watermark_offsets(partition, timeout=30)
        consumer.assign([partition])
        while len(records) < end:
            message = consumer.poll(30)
            if message is None or message.error() is not None:
                raise BenchFailed(f"{topic} has {end} records, but {len(records)} could be read")
            records.append((message.key() or b"", message.value() or b""))
    finally:
        consumer.close()
    return records
