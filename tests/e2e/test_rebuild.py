"""A checkpoint is lost in mid-stream, with most of the topics: it is built again, and no alert shows it.

One engine id all along: `tripline-engine run` is killed, its checkpoint and projection are deleted, and so are the
older records of the topics, which an archiver has kept. A new start is refused; `tripline-engine rebuild` makes the
checkpoint; its first micro-batch is killed before it is committed and runs again; then the line goes on; in
`make soak` it is started once more. In the end all of it is proven, by a certificate that holds.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.e2e.support.archiver_process import running_archiver
from tests.e2e.support.engine_process import Workplace
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.verdict import orders, read_verdict
from tests.e2e.support.waiting import eventually
from tests.faults.support.kill_places import assert_is
from tests.faults.support.scene import Scene
from tests.oracle.builders.shorthand import draft
from tripline_contracts.event_type_loader import load
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_engine.archive.file_ranges import archived_ranges
from tripline_engine.archive.file_store import FileStore
from tripline_engine.spark.checkpoint.spark_offsets import last_commit

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KEPT = 6
"""Records of each partition that Kafka still has when the rebuild begins."""
TRIED = 5
"""The rule with a version that is rolled out before all is lost, and further afterwards."""
TOPICS = ("transactions.v1", "engine-order.v1", "engine-ticks.v1")


# With one shard in `make soak`: building it knows nothing of their number.
@pytest.fixture(params=[2, pytest.param(1, marks=pytest.mark.soak)], ids=["two shards", "one shard"])
def scene(java: Java, jars: Jars, kafka: str, tmp_path: Path, request: pytest.FixtureRequest) -> Scene:
    log = KafkaLog(kafka, f"rebuild-{request.param}-")
    log.create()
    return Scene(log, Workplace(java, jars, kafka, tmp_path, shards=request.param))


@pytest.mark.timeout(600)
def test_a_lost_checkpoint_changes_no_alert(scene: Scene) -> None:
    with running_archiver(scene.log.kafka, scene.place.archive, scene.log.prefix):
        an_engine_is_killed(scene)
        recorded = orders(scene.log)[-1]["sequence"]
        kafka_forgets(scene)
        if scene.place.shards > 1:
            a_new_start_is_refused(scene)
        the_checkpoint_is_built(scene, recorded)
        if scene.place.shards > 1:
            its_first_micro_batch_is_killed(scene)
        with scene.engine():
            scene.wait()
            scene.publish(2, draft("COUNT", ">=", "3", by=("payeeId",), seconds=50))
            scene.roll_out(TRIED, 70)
            scene.pay_and_wait(30)
        assert (scene.place.checkpoint / "beginning").exists()
        if scene.place.shards == 1:
            # in `make soak`: `test_restore_point.py` has what there is to see of a second start
            with scene.engine():
                scene.pay_and_wait(10)
            assert not (scene.place.checkpoint / "beginning").exists()

        all_is_proven(scene)
    verdict = read_verdict(scene.log)
    verdict.assert_equal()
    assert verdict.repeated_alerts
    assert verdict.shares()["with versions in both topics"], (
        "what was rolled out counts for some groups alone"
    )
    orders_read = orders(scene.log)
    assert [order["sequence"] for order in orders_read] == list(range(1, len(orders_read) + 1))
    assert len(orders_read) > recorded


def all_is_proven(scene: Scene) -> None:
    """By as many alerts as were told, of a rollout too, from topics and archive, whatever was killed meanwhile."""
    file = scene.place.checkpoint.with_name("certificate.json")
    span = ("--from", "1970-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z")
    done = scene.command("prove", *span, "--shards", "3", "--certificate", str(file))
    told = {alert["alertId"] for alert in scene.log.read_json("alerts.v1")}
    assert done.code == 0, done.said
    assert f"match: {len(told)} alerts of 1970-01-01T00:00:00.000Z to 2100" in done.said, done.said
    checked = scene.command("prove", "--check", str(file))
    assert checked.code == 0, checked.said
    assert "the certificate holds: match, " in checked.said
    a_rule_is_tried(scene, span)


def a_rule_is_tried(scene: Scene, span: tuple[str, ...]) -> None:
    """One that counts what there is."""
    rule, out = scene.place.checkpoint.with_name("rule.yaml"), scene.place.checkpoint.with_name("tried")
    rule.write_text(
        "name: Any\naggregatorFunctionType: COUNT\ngroupingKeyNames: [payeeId]\nlimitOperatorType: '>='\nlimit: 1\n"
        "windowSeconds: 60\n"
    )
    done = scene.command("backtest", str(rule), *span, "--beside", "2", "--out", str(out))
    assert done.code == 0, done.said
    (tried,) = json.loads((out / "result.json").read_text())["rules"]
    assert 0 < tried["beside"]["both"] < tried["alerts"]
    assert tried["beside"]["onlyLive"] == 0
    assert pq.read_table(out / "alerts.parquet").num_rows == tried["alerts"]
    assert f"Any: {tried['alerts']} alerts in {tried['groups']} groups" in done.said


def an_engine_is_killed(scene: Scene) -> None:
    """After changes of rules, with all output of its last micro-batch written, and payments that it has not read."""
    scene.publish_rules()
    with scene.engine(fault="commit:at-the-end") as engine:
        scene.wait()
        for count in (2, 9, 14):
            scene.pay_and_wait(count)
        scene.try_beside(TRIED, draft("COUNT", ">=", "2", by=("payeeId",), seconds=30))
        scene.roll_out(TRIED, 30)
        scene.publish(1, draft("SUM", ">", "2500", seconds=35))
        scene.publish(4, draft("COUNT", ">=", "2", by=(), seconds=6, firing="crossing"))
        for count in (11, 1, 13):
            scene.pay_and_wait(count)
        scene.pay_around("at-the-end")
        eventually(lambda: not engine.is_running(), "the engine is killed")
    assert_is(scene.kill().place, "commit")
    scene.send(7)


def kafka_forgets(scene: Scene) -> None:
    """Checkpoint, projection, and of the topics all but the last few records: they are in the archive."""
    shutil.rmtree(scene.place.checkpoint)
    shutil.rmtree(scene.place.projection)
    for topic in TOPICS:
        ends = scene.log.ends(topic)
        store = FileStore(scene.place.archive, load().name, scene.log.prefix + topic)
        eventually(partial(is_archived, store, ends), f"{topic} is archived")
        scene.log.delete(topic, {p: max(0, end - KEPT) for p, end in ends.items()})


def is_archived(store: FileStore, ends: dict[int, int]) -> bool:
    there = {partition: archived_ranges(pieces) for partition, pieces in store.files().items()}
    return there == {partition: [(0, end)] for partition, end in ends.items() if end}


def a_new_start_is_refused(scene: Scene) -> None:
    refused = scene.command("run")
    assert refused.code == 1
    assert "the archive has it from offset 0 on. `tripline-engine rebuild` makes a checkpoint" in refused.said
    assert "TRIPLINE_COLD_START=1" in refused.said
    assert not scene.spark.exists()


def the_checkpoint_is_built(scene: Scene, recorded: int) -> None:
    done = scene.command("rebuild", TRIPLINE_SHARDS="", TRIPLINE_LOG_LEVEL="info")
    assert done.code == 0, done.said
    shards = scene.place.shards
    assert f"{shards} shards: {recorded} micro-batches with 62 transactions in" in done.said, done.said
    again = scene.command("rebuild")
    assert again.code == 1
    assert "has a checkpoint, and an engine goes on from it" in again.said


def its_first_micro_batch_is_killed(scene: Scene) -> None:
    """So the state is taken over twice."""
    scene.pay_around("at-the-beginning")
    assert scene.command("run", fault="commit:at-the-beginning").code == -9
    killed_at = scene.killed_at()
    assert_is(killed_at, "commit")
    assert killed_at.batch == 0
    assert last_commit(scene.spark) is None
