"""A worker killed in mid-stream, a worker added, the driver killed, under steady traffic: no alert changes.

One life of a checkpoint with two shards on workers of one core. Payments flow all the while, also while no engine runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.figures.assessment import told_by
from bench.independent.expected import Expected
from bench.workload.workload import make
from tests.cluster.standalone import Cluster, cluster
from tests.e2e.support.engine_process import RunningEngine, Workplace, running_engine
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.verdict import orders
from tests.e2e.support.waiting import eventually
from tests.faults.support.alert_counts import expected_of, limits_of
from tests.faults.support.traffic import Traffic, first
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends
from tripline_engine.spark.faults.engine_kill import kill_processes

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SHARDS = 2
RATE = 500
LONGEST_SECONDS = 800
SECONDS_AT_LEAST = 15.0
FEWEST_ALERTS = 200
PREFIX = "cluster-losses-"

Tell = Callable[[str, object], None]


@pytest.mark.timeout(LONGEST_SECONDS + 100)
def test_losses_change_no_alert(
    java: Java, jars: Jars, kafka: str, tmp_path: Path, record_property: Tell
) -> None:
    log = KafkaLog(kafka, PREFIX)
    log.create()
    load = make(RATE, 0, RATE * LONGEST_SECONDS, seed=20_261_122)
    with (
        cluster(java, tmp_path, workers=2) as spark,
        Traffic([log], load, limits_of(first(load, RATE * 60))) as traffic,
    ):
        workplace = Workplace(
            java, jars, kafka, tmp_path, SHARDS, {"TRIPLINE_SPARK_MASTER": spark.address, **spark.environment}
        )
        with engine(workplace, log) as running:
            both_serve(spark, running, workplace, traffic)
            lost = one_is_killed(spark, running, workplace, traffic)
            added = one_is_added(spark, running, workplace, traffic)
            moved = running.metric("tripline_engine_rebuilds_total")
            kill_processes(running.process.process.pid)
        eventually(lambda: spark.cores_used() == 0, "the workers are rid of the driver's executors")
        with engine(workplace, log) as running:
            goes_on(running, workplace, traffic)
            traffic.stop()
            eventually(lambda: taken(workplace) == traffic.sent, "the engine takes all that was sent", 120)
            assert running.metric("tripline_engine_private_copies_total") == 0

    order = orders(log)
    expected, raised = expected_of(traffic, order), alerts(log)
    record_property(
        "told",
        f"{traffic.sent} payments in {traffic.seconds:.0f} s; {len(traffic.versions)} versions; {len(order)}"
        f" micro-batches; {lost:.1f} s from the kill of a worker to all shards on the other one, {added:.1f} s from a"
        f" worker that joins to its first shard; projections built again until the driver was killed: {moved:.0f};"
        f" {len(expected)} alerts expected, {sum(log.ends('alerts.v1').values())} written",
    )
    assert raised == expected
    assert len(expected) >= FEWEST_ALERTS
    assert sum(log.ends("rejected-transactions.v1").values()) == 0


@contextmanager
def engine(workplace: Workplace, log: KafkaLog) -> Iterator[RunningEngine]:
    """A driver for live traffic."""
    with running_engine(
        workplace, {"TRIPLINE_TOPIC_PREFIX": log.prefix, "TRIPLINE_CLOCK": "wall"}
    ) as running:
        yield running


def both_serve(spark: Cluster, running: RunningEngine, workplace: Workplace, traffic: Traffic) -> None:
    """Each shard has gone to a worker of its own, and stays there."""
    eventually(lambda: spark.cores_used() == 2, "both workers have an executor")
    eventually(lambda: all(worker.projections for worker in spark.workers), "both workers serve a shard")
    before = running.metric("tripline_engine_rebuilds_total")
    goes_on(running, workplace, traffic)
    assert running.metric("tripline_engine_rebuilds_total") <= before + 1, "shards wander between workers"


def one_is_killed(spark: Cluster, running: RunningEngine, workplace: Workplace, traffic: Traffic) -> float:
    """The other one takes its shard, from what is in the checkpoint; after how many seconds."""
    gone, left = spark.workers
    begin = time.monotonic()
    gone.kill()
    eventually(lambda: len(left.projections) == SHARDS, "the other worker serves both shards", 120)
    took = time.monotonic() - begin
    eventually(lambda: spark.alive() == 1, "the master knows that one is gone")
    goes_on(running, workplace, traffic)
    return took


def one_is_added(spark: Cluster, running: RunningEngine, workplace: Workplace, traffic: Traffic) -> float:
    """It gets a shard, without a restart; after how many seconds."""
    new = spark.add_worker()
    begin = time.monotonic()
    eventually(lambda: bool(new.projections), "the new worker serves a shard", 120)
    took = time.monotonic() - begin
    goes_on(running, workplace, traffic)
    return took


def goes_on(running: RunningEngine, workplace: Workplace, traffic: Traffic) -> None:
    """Everything that is sent by now is taken, and what comes in some more seconds."""
    until = traffic.seconds + SECONDS_AT_LEAST
    eventually(lambda: traffic.seconds > until, "time passes")
    sent = traffic.sent
    eventually(lambda: taken(workplace) >= sent or not running.is_running(), "the engine keeps up", 120)
    assert running.is_running(), running.process.last_lines()


def taken(workplace: Workplace) -> int:
    """Payments in committed micro-batches."""
    ends = committed_ends(spark_folder(workplace.checkpoint))
    return sum(ends.get(PREFIX + "transactions.v1", {}).values())


def alerts(log: KafkaLog) -> dict[str, Expected]:
    """By id; one that was written again says the same."""
    expected: dict[str, Expected] = {}
    for alert in log.read_json("alerts.v1"):
        told = told_by(alert)
        assert expected.setdefault(str(alert["alertId"]), told) == told
    return expected
