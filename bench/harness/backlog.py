"""A backlog in Kafka, and what takes it: Spark's own operators, or an engine whose alerts are checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench.figures.assessment import compared, told_by
from bench.figures.rates import rate_of
from bench.figures.results import Result
from bench.harness import engine
from bench.harness.engine import Cores, Running
from bench.harness.output_reader import ALERTS, ORDER, Reader
from bench.harness.stack import BenchFailed
from bench.harness.waiting import Silence, until_quiet
from bench.independent.expected import expected_alerts, order_of
from bench.workload.rule_publisher import publish
from bench.workload.rules import UNREACHABLE, Version
from bench.workload.sender import Sender, now_ms
from bench.workload.workload import Column, Workload, number_of
from tripline_contracts.event_type import EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster

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
class Workplace(engine.Workplace):
    """Where a run happens, and when (ms) the payments in Kafka took place."""

    backlog: Backlog
    event_time: Column


@dataclass(frozen=True, slots=True)
class Taken:
    """What an engine did: payments a second, those of the second half besides, and all its alerts against the count."""

    rate: float
    second_half: float
    checked: list[Result]


@contextmanager
def filled(backlog: Backlog, *, secured: bool = False, partitions: int | None = None) -> Iterator[Workplace]:
    """A broker that holds it; over SASL and TLS where it is secured."""
    load = backlog.load
    with engine.broker("throughput", secured=secured, partitions=partitions) as workplace:
        publish(workplace.cluster, backlog.versions, backlog.event_type)
        # all of it is there before: the sender's "preload" is whatever the workload says
        sender = Sender(workplace.cluster, replace(load, preloaded=len(load)))
        sender.preload(now_ms())
        sender.close()
        if sender.failures:
            raise BenchFailed(f"Kafka did not take everything: {sender.failures[0]}")
        yield Workplace(
            workplace.java, workplace.jars, workplace.cluster, workplace.folder, backlog, sender.event_time
        )


def limit(workplace: Workplace, per_batch: int, cores: Cores | None = None) -> float:
    """Payments a second that Spark's own operators take of it, so many in a micro-batch."""
    # each with a place of its own: Spark goes on from what it finds there
    folder = workplace.folder / f"limit-{time.monotonic_ns()}"
    command = [
        sys.executable,
        "-m",
        "bench.harness.spark_limit",
        str(workplace.jars.engine),
        str(folder),
        str(per_batch),
    ]
    if cores:
        command = [*cores.prefix, *command, str(cores.count)]
    environment = {
        **os.environ,
        **workplace.cluster.variables(),
        "JAVA_HOME": str(workplace.java.home),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchFailed(f"the limit could not be measured:\n{done.stderr[-2_000:]}")
    rate: float = json.loads(done.stdout.splitlines()[-1])["rate"]
    return rate


def taken(
    workplace: Workplace, shards: int, per_batch: int | None = None, cores: Cores | None = None
) -> Taken:
    """What an engine does that begins at the beginning; the first quarter is not timed."""
    load = workplace.backlog.load
    before, alerts_before = _ends(workplace.cluster)
    reader = Reader(workplace.cluster, ORDER, ALERTS)
    workplace_of_run = replace(workplace, folder=workplace.folder / f"engine-{time.monotonic_ns()}")
    running = engine.start(workplace_of_run, shards, per_batch, workplace.backlog.declared, cores)
    try:
        progress = _watched(reader, running, len(load), before)
        until_quiet(running, workplace_of_run, reader)
        alerts = [json.loads(record.value) for record in reader.records(ALERTS)[alerts_before:]]
        batches = [json.loads(record.value) for record in reader.records(ORDER)[before:]]
    finally:
        running.stop()
        reader.close()
    checked = [*_checked(workplace, batches, alerts), engine.compiled_late(workplace_of_run.log)]
    return Taken(rate_of(progress), rate_of(progress, without=2), checked)


def _ends(kafka: KafkaCluster) -> tuple[int, int]:
    """How many order records and alerts engines before have left."""
    reader = Reader(kafka, ORDER, ALERTS)
    try:
        silent = Silence(reader)
        while not silent():
            time.sleep(0.05)
        return reader.count(ORDER), reader.count(ALERTS)
    finally:
        reader.close()


def _watched(reader: Reader, running: Running, payments: int, before: int) -> list[tuple[float, int]]:
    """(seconds, payments taken) with each order record."""
    deadline, progress, taken, seen = time.monotonic() + _DEADLINE_SECONDS, [], 0, before
    while taken < payments:
        running.check()
        if time.monotonic() > deadline:
            said = running.process.last_lines()
            raise BenchFailed(f"the engine took {taken:,} of {payments:,} payments:\n{said}")
        for record in reader.records(ORDER, seen):
            seen += 1
            taken += sum(part["until"] - part["from"] for part in json.loads(record.value)["transactions"])
            progress.append((record.at, taken))
        time.sleep(0.02)
    return progress


def _checked(
    workplace: Workplace, batches: Sequence[dict[str, Any]], alerts: Sequence[dict[str, Any]]
) -> list[Result]:
    """All alerts of the last third, whatever rule they are of; of rules that nothing reaches none is expected."""
    load, versions = workplace.backlog.load, workplace.backlog.versions
    order = order_of(load, workplace.event_time, batches, len(versions))
    reached = [version.subject for version in versions if version.limit != UNREACHABLE]
    expected = expected_alerts(load, workplace.event_time, order, versions, reached)
    told = {
        str(alert["alertId"]): told_by(alert)
        for alert in alerts
        if number_of(str(alert["transaction"]["transactionId"])) >= load.preloaded
    }
    return compared(expected, told)
