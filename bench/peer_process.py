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
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.stack import BenchFailed
from tripline_demo import leash, paths


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


def figures(python: Path, module: str, folder: Path, name: str, run: str) -> dict[str, Any]:
    """What that module of this package writes as its last line, given `run` in a file; its log is in `folder`."""
    file, log = folder / f"{name}.json", folder / f"{name}.log"
    file.write_text(run, encoding="utf-8")
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
        raise BenchFailed(f"{name} failed:\n{process.last_lines()}")
    found: dict[str, Any] = json.loads(process.last_lines(1))
    return found


def create(bootstrap_servers: str, topic: str) -> None:
    """Creates a topic of one partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])[topic].result(30)


def records(bootstrap_servers: str, topic: str) -> list[tuple[bytes, bytes]]:
    """Key and value of all there are in its only partition: the peer has ended."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "bench", "enable.auto.commit": False}
    )
    place = TopicPartition(topic, 0, 0)
    found: list[tuple[bytes, bytes]] = []
    try:
        _, end = consumer.get_watermark_offsets(place, timeout=30)
        consumer.assign([place])
        while len(found) < end:
            message = consumer.poll(30)
            if message is None or message.error() is not None:
                raise BenchFailed(f"{topic} has {end} records, but {len(found)} could be read")
            found.append((message.key() or b"", message.value() or b""))
    finally:
        consumer.close()
    return found
