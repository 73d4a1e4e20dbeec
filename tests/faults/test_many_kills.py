"""SIGKILL of the engine, five times at each of its four fault points, under steady traffic and changes of rules.

One life of a checkpoint. Two thousand payments a second flow all the while, also while no engine runs, and every three
seconds a rule gets a new version. What the alerts should be is counted as the benchmark counts it, from what was sent
and from the engine's record of the order: the oracle would take days for so many. `make soak` runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.workload.workload import make
from tests.e2e.support.engine_process import Workplace, running_engine
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.verdict import orders
from tests.e2e.support.waiting import eventually
from tests.faults.support.alert_counts import SUBJECTS, expected_of, limits_of
from tests.faults.support.kill_places import PLACES, assert_is, read_place
from tests.faults.support.projected_alerts import assert_stored, projected_alerts
from tests.faults.support.traffic import Traffic, first
from tests.integration.alert_api.support.servers import committed
from tests.servers import PostgresServer
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_engine.spark.checkpoint.checkpoint import spark_folder

KILLS_EACH = 5
RATE = 2_000
LONGEST_SECONDS = 1_500
FEWEST_ALERTS = 1_000
PAYEES_OF_KILLS = 9_000_000_000
"""From here on; no other payee or amount is written with these digits."""


@pytest.fixture(params=[2, 1], ids=["two shards", "one shard"])
def workplace(
    java: Java, jars: Jars, kafka: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Workplace:
    return Workplace(java, jars, kafka, tmp_path, shards=request.param)


@pytest.fixture
def log(kafka: str, workplace: Workplace) -> KafkaLog:
    log = KafkaLog(kafka, prefix(workplace))
    log.create()
    return log


@pytest.fixture
def alerts_database(postgres: PostgresServer, log: KafkaLog) -> Iterator[str]:
    """The owner's DSN of a database with the alerts of this engine."""
    with projected_alerts(postgres, log.kafka, log.prefix + "alerts.v1") as owner:
        yield owner


@pytest.mark.soak
@pytest.mark.timeout(LONGEST_SECONDS + 300)
def test_many_kills_change_no_alert(
    log: KafkaLog, workplace: Workplace, alerts_database: str, record_property: Callable[[str, object], None]
) -> None:
    load = make(RATE, 0, RATE * LONGEST_SECONDS, seed=20_261_121)
    with Traffic([log], load, limits_of(first(load, RATE * 60))) as traffic:
        kills = Counter(
            killed(workplace, traffic, number, where) for number, where in enumerate(PLACES * KILLS_EACH)
        )
        with running_engine(workplace, settings(workplace)):
            traffic.stop()
            eventually(
                lambda: traffic.is_taken(spark_folder(workplace.checkpoint), prefix(workplace)),
                "the engine takes all that was sent",
                120,
            )

    order = orders(log)
    expected = expected_of(traffic, order)
    written = sum(log.ends("alerts.v1").values())
    record_property(
        "told",
        f"killed at {', '.join(f'{where} {count} times' for where, count in kills.items())}; {traffic.sent} payments"
        f" in {traffic.seconds:.0f} s, {traffic.sent / traffic.seconds:.0f} a second; {len(traffic.versions)} versions"
        f" of {len(SUBJECTS)} rules; {len(order)} micro-batches; {len(expected)} alerts expected, {written} written",
    )
    topic = log.prefix + "alerts.v1"
    eventually(lambda: committed(log.kafka, topic, topic) == written, "the projector reads all alerts", 120)
    assert_stored(alerts_database, expected)
    assert sum(log.ends("rejected-transactions.v1").values()) == 0
    assert len(expected) >= FEWEST_ALERTS


def killed(workplace: Workplace, traffic: Traffic, number: int, where: str) -> str:
    """An engine takes what has come meanwhile, then a payment comes at which it is killed."""
    payee, marker = PAYEES_OF_KILLS + number, workplace.folder / f"kill-{number}"
    with running_engine(workplace, settings(workplace, f"{where}:{payee}:{marker}")) as engine:
        traffic.mark(payee)
        eventually(lambda: not engine.is_running(), f"kill {number}, at {where}")
    assert_is(read_place(spark_folder(workplace.checkpoint), marker, workplace.shards), where)
    return where


def prefix(workplace: Workplace) -> str:
    """Of the topics."""
    return f"many-kills-{workplace.shards}-"


def settings(workplace: Workplace, fault: str = "") -> dict[str, str]:
    """The engine's, for live traffic."""
    return {
        "TRIPLINE_TOPIC_PREFIX": prefix(workplace),
        "TRIPLINE_CLOCK": "wall",
        "TRIPLINE_FAULT_POINT": fault,
    }
