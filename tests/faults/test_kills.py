"""SIGKILL of the engine in the middle of a task, and between sink and commit; then a lost projection. Same alerts.

One life of a checkpoint in three processes `tripline-engine run`, each on what the one before left behind. The real
alert projector carries alerts into a real Postgres all the while.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.engine_process import Workplace
from tests.e2e.kafka_log import KafkaLog
from tests.e2e.stored import stored_alerts, stored_names
from tests.e2e.verdict import Verdict, assert_same, read_verdict
from tests.e2e.waiting import eventually
from tests.faults.scene import Kill, Scene
from tests.integration.alert_api.servers import projector
from tests.servers import PostgresServer
from tripline_demo.jars import Jars
from tripline_demo.java import Java

pytestmark = [pytest.mark.faults, pytest.mark.slow]

PREFIX = "kills-"
STEADY_BATCHES = 30


@pytest.fixture
def scene(java: Java, jars: Jars, kafka: str, tmp_path: Path) -> Scene:
    log = KafkaLog(kafka, PREFIX)
    log.create()
    return Scene(log, Workplace(java, jars, kafka, tmp_path))


@pytest.fixture
def alerts_database(postgres: PostgresServer, kafka: str, scene: Scene) -> Iterator[str]:
    """The owner's DSN of a database that the alert projector fills from this engine's alerts.v1."""
    with ExitStack() as stack:
        owner = stack.enter_context(postgres.database(migrated=True))
        dsn = postgres.login(owner, "tripline_alert_projector")
        stack.enter_context(projector(kafka, PREFIX + "alerts.v1", dsn))
        yield owner


@pytest.mark.timeout(600)
def test_kills_and_a_lost_projection_change_no_alert(scene: Scene, alerts_database: str) -> None:
    scene.publish_rules()
    in_task = killed_in_the_middle_of_a_task(scene)
    after_sink = killed_between_sink_and_commit(scene)
    runs_on_without_its_projection(scene)

    verdict = read_verdict(scene.log)
    verdict.assert_equal()
    # what the first kill kept back is there now
    assert not alerts_of(verdict, in_task) <= in_task.alerts
    # what the second let out was there then, and came once more
    assert 0 < len(alerts_of(verdict, after_sink)) <= verdict.repeated_alerts
    assert alerts_of(verdict, after_sink) <= after_sink.alerts
    eventually(
        lambda: sum(stored_names(alerts_database).values()) == len(verdict.expected.alerts),
        "all alerts are stored",
    )
    assert_same(stored_alerts(alerts_database), verdict.expected.alerts)


def killed_in_the_middle_of_a_task(scene: Scene) -> Kill:
    """Of the alerts of its micro-batch some are missing in Kafka: the engine is dead."""
    with scene.engine(fault="task:in-task") as engine:
        scene.pay_and_wait(20)
        scene.pay_around("in-task")
        eventually(lambda: not engine.is_running(), "the engine is killed in a task")
    kill = scene.kill()
    assert kill.where == "task"
    assert "in-task" in kill.transactions
    return kill


def killed_between_sink_and_commit(scene: Scene) -> Kill:
    """All alerts of its micro-batch are in Kafka, and Spark doesn't know: the engine is dead."""
    with scene.engine(fault="sink:after-sink") as engine:
        scene.wait()
        scene.pay_and_wait(20)
        scene.pay_around("after-sink")
        eventually(lambda: not engine.is_running(), "the engine is killed before a commit")
    kill = scene.kill()
    assert kill.where == "sink"
    assert "after-sink" in kill.transactions
    # Spark's own thread waited for the lock under which it commits what the sink is through with
    assert "runBatch" in kill.stack
    assert "constructNextBatch" not in kill.stack
    return kill


def runs_on_without_its_projection(scene: Scene) -> None:
    """The two shards' arrays are built again once, from the state store, and never after that."""
    shutil.rmtree(scene.place.projection)
    with scene.engine() as engine:
        scene.wait()
        scene.pay_and_wait(1)
        eventually(
            lambda: engine.metric("tripline_engine_rebuilds_total") == 2, "both shards have been rebuilt"
        )
        batches = engine.metric("tripline_engine_batch_seconds_count")
        while engine.metric("tripline_engine_batch_seconds_count") < batches + STEADY_BATCHES:
            scene.pay_and_wait(3)
        assert engine.metric("tripline_engine_rebuilds_total") == 2
        assert engine.metric("tripline_engine_private_copies_total") == 0


def alerts_of(verdict: Verdict, kill: Kill) -> set[str]:
    """The ids of the alerts that the killed micro-batch has to raise."""
    return {
        alert_id
        for alert_id, alert in verdict.alerts.items()
        if alert["transaction"]["transactionId"] in kill.transactions
    }
