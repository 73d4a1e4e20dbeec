"""`python -m bench.throughput`: payments a second out of a backlog, beside what Spark's own operators take of it.

Kafka and the engine alone, as separate processes; five rules; alerts compared with the independent count. The first
quarter of the payments is not timed. Writes var/throughput.json; exit code 1 if a bar is missed.
"""

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
from typing import Final

import click
import numpy as np
from confluent_kafka import Producer
from rich.console import Console

from bench import results
from bench.expected import expected_alerts, order_of
from bench.judging import compared, told_by
from bench.reading import ALERTS, ORDER, Reader
from bench.results import Result
from bench.retained import published
from bench.rules import FIVE, Subject, Version, limits
from bench.sending import Sender, now_ms
from bench.stack import BenchFailed
from bench.workload import PARTITIONS, Column, Workload, number_of
from tripline_demo import kafka, leash, paths, ports, topics
from tripline_demo.jars import Jars, ensure
from tripline_demo.java import Java, find_java

RULES: Final = (
    *FIVE[:4],
    Subject(5, "SUM by beneficiary and payee, 30 minutes", "SUM", ("beneficiaryId", "payeeId"), 1_800),
)
RATE: Final = 5_000
"""Payments a second of event time."""
OF_THE_LIMIT, OF_THE_LINE_ABOVE = 0.5, 0.9
_ALERTS_PER_RULE: Final = 300
_DEADLINE_SECONDS: Final = 900
_BATCHES: Final = 10


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens."""

    java: Java
    jars: Jars
    kafka: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Taken:
    """What an engine did: payments a second, and all its alerts against the count."""

    rate: float
    checked: list[Result]


@click.command()
@click.option("--payments", type=click.IntRange(100_000), default=3_000_000, show_default=True)
@click.option("--payees", multiple=True, type=click.IntRange(10), default=(100_000, 1_000), show_default=True)
@click.option("--shards", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, payees: tuple[int, ...], shards: tuple[int, ...], seed: int) -> None:
    """Measures how fast a backlog is taken, by population and number of shards."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    found: list[Result] = []
    first: float | None = None
    for population in payees:
        load = workload(payments, population, seed)
        versions = _versions(load)
        with _filled(load, versions) as (place, sender):
            say(f"{population:,} payees: the limit")
            limit = _limit(place, payments // _BATCHES)
            found.append(results.told(f"{population:,} payees: Spark's own operators", limit, "payments/s"))
            best = 0.0
            for count in shards:
                say(f"the limit is {limit:,.0f}/s; the best engine so far {best:,.0f}/s; shards: {count}")
                taken = _taken(place, load, sender, versions, count)
                name = f"{population:,} payees: the engine, shards: {count}"
                found += [results.told(name, taken.rate, "payments/s", limit), *taken.checked]
                best = max(best, taken.rate)
        name = f"{population:,} payees: the best of these"
        if first is None:
            first = best
            found.append(results.at_least(name, best, "payments/s", OF_THE_LIMIT * limit, reference=limit))
        else:
            found.append(
                results.at_least(name, best, "payments/s", OF_THE_LINE_ABOVE * first, reference=first)
            )
    results.show(found, console)
    results.write(found, paths.var_folder() / "throughput.json")
    sys.exit(0 if all(result.ok for result in found) else 1)


def workload(payments: int, population: int, seed: int) -> Workload:
    """Payments between that many payees and beneficiaries, all equally busy; the last third is what is judged."""
    random = np.random.default_rng(seed)
    payee, beneficiary = (random.integers(0, population, payments) for _ in range(2))
    partition = payee % PARTITIONS
    offset = np.zeros_like(partition)
    for one in range(PARTITIONS):
        mine = np.flatnonzero(partition == one)
        offset[mine] = np.arange(mine.size)
    kind, cents = random.integers(0, 2, payments), random.integers(1_00, 1_000_00, payments)
    return Workload(RATE, payments * 2 // 3, payee, beneficiary, kind, cents, partition, offset)


@contextmanager
def _filled(load: Workload, versions: Sequence[Version]) -> Iterator[tuple[Place, Sender]]:
    """A broker that holds the rules and all payments."""
    var = paths.var_folder()
    java = find_java(os.environ, var / "java")
    jars = ensure(paths.project_root(), var, java)
    folder = Path(tempfile.mkdtemp(prefix="tripline-throughput-"))
    try:
        with kafka.running(java, jars.broker, folder / "kafka") as broker:
            topics.create(broker.bootstrap_servers, clock="data")
            _publish(broker.bootstrap_servers, versions)
            # all of it is there before: the sender's "preload" is whatever the workload says
            sender = Sender(broker.bootstrap_servers, replace(load, preloaded=len(load)))
            sender.preload(now_ms())
            sender.close()
            if sender.failures:
                raise BenchFailed(f"Kafka did not take everything: {sender.failures[0]}")
            yield Place(java, jars, broker.bootstrap_servers, folder), sender
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _versions(load: Workload) -> list[Version]:
    found = limits(load, _ALERTS_PER_RULE, RULES)
    return [Version(rule, 1, place, found[rule.rule_id], 0) for place, rule in enumerate(RULES)]


def _publish(bootstrap_servers: str, versions: Sequence[Version]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for version in versions:
        event = published(version.subject.rule_id, version.subject.body(version.limit, 0))
        producer.produce("rules.v1", event.data, partition=0)
    producer.flush(60)


def _limit(place: Place, per_batch: int) -> float:
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


def _taken(place: Place, load: Workload, sender: Sender, versions: Sequence[Version], shards: int) -> Taken:
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
    return Taken(rate, _checked(load, sender.event_time, versions, batches, alerts))


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
    load: Workload,
    event_time: Column,
    versions: Sequence[Version],
    batches: list[dict[str, object]],
    alerts: list[dict[str, object]],
) -> list[Result]:
    order = order_of(load, event_time, batches, len(versions))
    expected = expected_alerts(load, event_time, order, versions, RULES)
    told = {
        str(alert["alertId"]): told_by(alert)
        for alert in alerts
        if number_of(str(alert["transaction"]["transactionId"])) >= load.preloaded  # type: ignore[index]
    }
    return compared(expected, told)


if __name__ == "__main__":
    main()
