"""SIGKILL of the engine at each fault point, then a lost projection. Same alerts.

One life of a checkpoint in some processes `tripline-engine run`, each on what the one before left behind. The real
alert projector carries alerts into a real Postgres all the while. All of it is in `make soak`: `make test`
kills in test_kills_in_company.py and in e2e/test_rebuild.py, where a projection is lost too.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.support.engine_process import Workplace
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.stored_alerts import stored_alerts, stored_names
from tests.e2e.support.verdict import Verdict, assert_same, read_verdict
from tests.e2e.support.waiting import eventually
from tests.faults.support.kill_places import PLACES, assert_is
from tests.faults.support.projected_alerts import projected_alerts
from tests.faults.support.scene import Kill, Scene
from tests.servers import PostgresServer
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.soak]

STEADY_BATCHES = 15
LIVES = [
    pytest.param((2, PLACES), id="two shards"),
    # of one shard there is no other that could have flushed
    pytest.param((1, ("plan", "task", "commit")), id="one shard"),
]
"""How many shards, and where they are killed."""


@pytest.fixture
def scene(life: tuple[int, Sequence[str]], java: Java, jars: Jars, kafka: str, tmp_path: Path) -> Scene:
    shards, places = life
    log = KafkaLog(kafka, f"kills-{shards}-{len(places)}-")
    log.create()
    return Scene(log, Workplace(java, jars, kafka, tmp_path, shards=shards))


@pytest.fixture
def alerts_database(postgres: PostgresServer, kafka: str, scene: Scene) -> Iterator[str]:
    """The owner's DSN of a database with the alerts of this engine."""
    with projected_alerts(postgres, kafka, scene.log.prefix + "alerts.v1") as owner:
        yield owner


@pytest.mark.timeout(600)
@pytest.mark.parametrize("life", LIVES)
def test_kills_and_a_lost_projection_change_no_alert(
    scene: Scene, life: tuple[int, Sequence[str]], alerts_database: str
) -> None:
    scene.publish_rules()
    kills = {where: killed(scene, where) for where in life[1]}
    runs_on_without_its_projection(scene)

    verdict = read_verdict(scene.log)
    verdict.assert_equal()
    assert_alerts(kills, verdict)
    eventually(
        lambda: sum(stored_names(alerts_database).values()) == len(verdict.expected.alerts),
        "all alerts are stored",
    )
    assert_same(stored_alerts(alerts_database), verdict.expected.alerts)


def killed(scene: Scene, where: str) -> Kill:
    """An engine takes what the one before left behind, then some more, and is killed at that point."""
    identity = f"at-{where}"
    with scene.engine(fault=f"{where}:{identity}") as engine:
        scene.wait()
        scene.pay_and_wait(20)
        scene.pay_around(identity)
        eventually(lambda: not engine.is_running(), f"the engine is killed at the point {where}")
    kill = scene.kill()
    assert_is(kill.place, where)
    assert identity in kill.transactions
    return kill


def assert_alerts(kills: dict[str, Kill], verdict: Verdict) -> None:
    """By alerts.v1: which of the micro-batch's alerts were there at the kill. All others have come since."""
    raised = {where: alerts_of(verdict, kill) for where, kill in kills.items()}
    there = {where: raised[where] & kill.alerts for where, kill in kills.items()}
    assert all(raised.values())
    for where, kills_there in there.items():
        match where:
            case "plan":
                assert not kills_there
            case "task":
                assert kills_there < raised[where]
            case "flush":
                # one shard's, and not the other's
                assert set() < kills_there < raised[where]
            case "commit":
                assert kills_there == raised[where]
    # what was let out has come once more
    assert verdict.repeated_alerts >= sum(len(there[where]) for where in there.keys() & {"flush", "commit"})


def runs_on_without_its_projection(scene: Scene) -> None:
    """Each shard's arrays are built again once, from the state store, and never after that."""
    shards = scene.place.shards
    shutil.rmtree(scene.place.projection)
    with scene.engine() as engine:
        scene.wait()
        scene.pay_and_wait(1)
        eventually(
            lambda: engine.metric("tripline_engine_rebuilds_total") == shards, "all shards have been rebuilt"
        )
        batches = engine.metric("tripline_engine_batch_seconds_count")
        while engine.metric("tripline_engine_batch_seconds_count") < batches + STEADY_BATCHES:
            scene.pay_and_wait(3)
        assert engine.metric("tripline_engine_rebuilds_total") == shards
        assert engine.metric("tripline_engine_private_copies_total") == 0


def alerts_of(verdict: Verdict, kill: Kill) -> set[str]:
    """The ids of the alerts that the killed micro-batch has to raise."""
    return {
        alert_id
        for alert_id, alert in verdict.alerts.items()
        if alert["transaction"]["transactionId"] in kill.transactions
    }
