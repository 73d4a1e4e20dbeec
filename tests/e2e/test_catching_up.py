"""An engine that is far behind takes its backlog in a form made for that, then goes on in the usual one.

At a start, and when it has fallen behind while it runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.support.engine_process import Workplace, running_engine
from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.waiting import eventually
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
MOST = 200
FIRST, AT_ONCE, BETWEEN, LAST = 60, 1_400, 1_000, 60
"""Payments: taken as they come, more than the engine keeps up with, while it is away, and as they come again."""
PAYERS = 10


def payment(number: int, partition: int) -> Sent:
    value = (
        f'{{"transactionId":"t{number}","eventTime":{T + number},"payeeId":"p{number % PAYERS}","beneficiaryId":"b",'
        f'"paymentAmount":"1","paymentType":"CSH"}}'
    )
    return Sent("transactions.v1", value.encode(), partition, T + number)


@pytest.mark.timeout(300)
def test_a_backlog_is_judged_like_everything_else(java: Java, jars: Jars, kafka: str, tmp_path: Path) -> None:
    log, registry = KafkaLog(kafka, "behind-"), Registry()
    log.create()
    partitions = len(log.ends("transactions.v1"))
    # a payer's payments lie in one partition, so each is judged with all of them that came before
    assert PAYERS % partitions == 0
    counting = registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=3_600), 0, T)
    log.send([Sent("rules.v1", counting)])
    sent = 0

    def send(count: int) -> None:
        nonlocal sent
        log.send(payment(n, n % partitions) for n in range(sent, sent + count))
        sent += count

    def all_are_judged() -> None:
        # each trips the rule
        eventually(lambda: sum(log.ends("alerts.v1").values()) >= sent, "all are judged")

    workplace = Workplace(java, jars, kafka, tmp_path, shards=1)
    settings = {
        "TRIPLINE_MAX_TRANSACTIONS_PER_BATCH": str(MOST),
        "TRIPLINE_TOPIC_PREFIX": log.prefix,
        "TRIPLINE_LOG_LEVEL": "info",
    }
    send(FIRST)
    with running_engine(workplace, settings):
        all_are_judged()
        assert "catching_up" not in workplace.log.read_text()
        send(AT_ONCE)
        eventually(lambda: "caught_up" in workplace.log.read_text(), "it has fallen behind and caught up")
        assert '"micro_batches": 2' in workplace.log.read_text()
        all_are_judged()
    send(BETWEEN)
    with running_engine(workplace, settings):
        eventually(lambda: workplace.log.read_text().count("caught_up") == 2, "the backlog is taken")
        assert f'"transactions": {BETWEEN}' in workplace.log.read_text()
        send(LAST)
        all_are_judged()
    assert counts(log) == {number: number // PAYERS + 1 for number in range(sent)}


def counts(log: KafkaLog) -> dict[int, int]:
    """What each payment's window came to, by its number."""
    return {
        int(alert["transaction"]["transactionId"][1:]): int(alert["value"])
        for alert in log.read_json("alerts.v1")
    }
