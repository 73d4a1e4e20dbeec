"""An engine with a new checkpoint beside topics that others have been through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.support import garbage
from tests.e2e.support.engine_process import Workplace, running_engine
from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import LargeRecordLog
from tests.e2e.support.verdict import read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
MINUTE = 60_000
PAYMENTS = 60
BEYOND = (2**63 - 1, (2**63 - 1) // 1000 + 1)
"""Times of records that Spark cannot hold: its source ends at them. An earlier release's topics took them."""


def payment(number: int, partition: int, time: int | None = None) -> Sent:
    happened = T + number * MINUTE
    return Sent("transactions.v1", garbage.payment(number, happened), partition, time or happened)


@pytest.mark.timeout(300)
def test_what_others_have_left_refuses_and_ends_nothing(
    java: Java, jars: Jars, kafka: str, tmp_path: Path
) -> None:
    """An hour of payments waits, a tick from its end, and times of records that Spark cannot hold: nothing of the hour
    is out of order for who begins with it, and the line goes on."""
    log = LargeRecordLog(kafka, "anew-")
    log.create()
    partitions = len(log.ends("transactions.v1"))
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, T)
    ticked = json.dumps({"clock": T + PAYMENTS * MINUTE}).encode()
    log.send([Sent("rules.v1", rule), Sent("engine-ticks.v1", ticked)])
    log.send(payment(number, number % partitions) for number in range(PAYMENTS))
    log.send(payment(PAYMENTS, partition, time) for partition in range(partitions) for time in BEYOND)
    log.send([payment(PAYMENTS + 1, 1)])

    def alerted() -> set[str]:
        return {alert["transaction"]["transactionId"] for alert in log.read_json("alerts.v1")}

    with running_engine(Workplace(java, jars, kafka, tmp_path), {"TRIPLINE_TOPIC_PREFIX": log.prefix}):
        eventually(lambda: sum(log.ends("engine-ticks.v1").values()) > 1, "its own clock ticks")
        # its tick comes after the micro-batch that it tells of
        assert alerted() >= {f"good-{number}" for number in range(PAYMENTS)}
        log.send([payment(PAYMENTS + 2, 0)])
        eventually(lambda: taken(log), "what comes after them is judged")
    read_verdict(log).assert_equal()
    assert all((order["ticks"] or {"from": 1})["from"] for order in log.read_json("engine-order.v1"))
