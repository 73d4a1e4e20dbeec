"""A backlog in Kafka, and what takes it: Spark's own operators, or an engine whose alerts are checked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Producer

from bench.expected import expected_alerts, order_of
from bench.judging import compared, told_by
from bench.reading import ALERTS, ORDER, Reader
from bench.results import Result
from bench.retained import published
from bench.rules import UNREACHABLE, Version
from bench.sending import Sender, now_ms
from bench.stack import BenchFailed
from bench.workload import Column, Workload, number_of
from tripline_contracts.event_type import EventType
from tripline_contracts.installed import SETTING, installed
from tripline_demo import kafka, leash, paths, ports, topics
from tripline_demo.jars import Jars, ensure
from tripline_demo.java import Java, find_java

_DEADLINE_SECONDS: Final = 900


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in Kafka: the rules, then the payments.

    :ivar declared: the file that declares the event type, None for the one that ships
    """

    load: Workload
    versions: Sequence[Version]
    declared: Path | None = None

    @property
    def event_type(self) -> EventType:
        """What the payments are."""
        return installed("" if self.declared is None else str(self.declared))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens, and when (ms) the payments in Kafka took place."""

    java: Java
    jars: Jars
    kafka: str
    folder: Path
    backlog: Backlog
    event_time: Column


@dataclass(frozen=True, slots=True)
class Taken:
    """What an engine did: payments a second, and all its alerts against the count."""

    rate: float
    checked: list[Result]


@contextmanager
def filled(backlog: Backlog) -> Iterator[Place]:
    """A broker that holds it."""
    var, load = paths.var_folder(), backlog.load
    java = find_java(os.environ, var / "java")
    jars = ensure(paths.project_root(), var, java)
    folder = Path(tempfile.mkdtemp(prefix="tripline-throughput-"))
    try:
        with kafka.running(java, jars.broker, folder / "kafka") as broker:
            topics.create(broker.bootstrap_servers, clock="data")
            _publish(broker.bootstrap_servers, backlog)
            # all of it is there before: the sender's "preload" is whatever the workload says
            sender = Sender(broker.bootstrap_servers, replace(load, preloaded=len(load)))
            sender.preload(now_ms())
            sender.close()
            if sender.failures:
                raise BenchFailed(f"Kafka did not take everything: {sender.failures[0]}")
            yield Place(java, jars, broker.bootstrap_servers, folder, backlog, sender.event_time)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(bootstrap_servers: str, backlog: Backlog) -> None:
    producer, event_type = Producer({"bootstrap.servers": bootstrap_servers}), backlog.event_type
    for version in backlog.versions:
        body = version.subject.body(version.limit, 0)
        event = published(version.subject.rule_id, body, event_type=event_type)
        producer.produce("rules.v1", event.data, partition=0)
    producer.flush(60)


def limit(place: Place, per_batch: int) -> float:
    """Payments a second that Spark's own operators take of it, so many in a micro-batch."""
    command = [
        sys.executable,
        "-m",
        "bench.limit",
        place.kafka,
        str(place.jars.engine),
        str(place.folder / "limit"),
        str(per_batch),
    ]
    environment = {**os.environ, "JAVA_HOME": str(place.java.home), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchFailed(f"the limit could not be measured:\n{done.stderr[-2_000:]}")
    rate: float = json.loads(done.stdout.splitlines()[-1])["rate"]
    return rate


def taken(place: Place, shards: int) -> Taken:
    """What an engine does that begins at the beginning; the first quarter is not timed."""
    load, declared = place.backlog.load, place.backlog.declared
    folder, (port,) = place.folder / f"engine-{shards}", ports.free_ports(1)
    prefix = {"TRIPLINE_CHECKPOINT": folder / "checkpoint", "TRIPLINE_PROJECTION_DIR": folder / "projection"}
    environment = {
        **os.environ,
        "JAVA_HOME": str(place.java.home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "TRIPLINE_KAFKA": place.kafka,
        "TRIPLINE_SHARDS": str(shards),
        "TRIPLINE_CLOCK": "data",
        "TRIPLINE_JARS": str(place.jars.engine),
        "TRIPLINE_METRICS_BIND": f"{ports.LOOPBACK}:{port}",
        "TRIPLINE_LOG_LEVEL": "warning",
        SETTING: "" if declared is None else str(declared),
        **{name: str(path) for name, path in prefix.items()},
    }
    before, alerts_before = _ends(place.kafka)
    command = [str(Path(sysconfig.get_path("scripts")) / "tripline-engine"), "run"]
    folder.mkdir()
    reader = Reader(place.kafka, ORDER, ALERTS)
    process = leash.start(command, log=folder / "engine.log", environment=environment)
    try:
        progress = _watched(reader, process, len(load), before)
        _until_quiet(reader)
        alerts = [json.loads(record.value) for record in reader.records(ALERTS)[alerts_before:]]
        batches = [json.loads(record.value) for record in reader.records(ORDER)[before:]]
    finally:
        process.stop()
        reader.close()
    timed_from = next(point for point in progress if point[1] >= len(load) // 4)
    rate = (progress[-1][1] - timed_from[1]) / (progress[-1][0] - timed_from[0])
    return Taken(rate, _checked(place, batches, alerts))


def _ends(bootstrap_servers: str) -> tuple[int, int]:
    """How many order records and alerts engines before have left."""
    reader = Reader(bootstrap_servers, ORDER, ALERTS)
    try:
        _until_quiet(reader)
        return reader.count(ORDER), reader.count(ALERTS)
    finally:
        reader.close()


def _until_quiet(reader: Reader) -> None:
    """Until nothing has come for two seconds."""
    seen, since = -1, time.monotonic()
    while time.monotonic() - since < 2:
        count = reader.count(ORDER) + reader.count(ALERTS)
        if count != seen:
            seen, since = count, time.monotonic()
        time.sleep(0.05)


def _watched(reader: Reader, process: leash.Leashed, payments: int, before: int) -> list[tuple[float, int]]:
    """(seconds, payments taken) with each order record."""
    deadline, found, taken, seen = time.monotonic() + _DEADLINE_SECONDS, [], 0, before
    while taken < payments:
        if not process.is_running() or time.monotonic() > deadline:
            raise BenchFailed(f"the engine took {taken:,} of {payments:,} payments:\n{process.last_lines()}")
        for record in reader.records(ORDER, seen):
            seen += 1
            taken += sum(part["until"] - part["from"] for part in json.loads(record.value)["transactions"])
            found.append((record.at, taken))
        time.sleep(0.02)
    return found


def _checked(
    place: Place, batches: Sequence[dict[str, Any]], alerts: Sequence[dict[str, Any]]
) -> list[Result]:
    """All alerts of the last third, whatever rule they are of; of rules that nothing reaches none is expected."""
    load, versions = place.backlog.load, place.backlog.versions
    order = order_of(load, place.event_time, batches, len(versions))
    reached = [version.subject for version in versions if version.limit != UNREACHABLE]
    expected = expected_alerts(load, place.event_time, order, versions, reached)
    told = {
        str(alert["alertId"]): told_by(alert)
        for alert in alerts
        if number_of(str(alert["transaction"]["transactionId"])) >= load.preloaded
    }
    return compared(expected, told)
