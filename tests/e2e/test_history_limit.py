"""At its stated limit of history the engine takes no transactions, says so, takes rules, and loses nothing."""

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
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
# An hour of payments: those of a day's window are retained on its anchor, a quarter of them on the other two.
PAYMENTS, MOST, AT_ONCE = 1000, 1000, 20


def payment(number: int, time: int, partition: int) -> Sent:
    value = (
        f'{{"transactionId":"t{number}","eventTime":{time},"payeeId":"p{number % 10}","beneficiaryId":"b",'
        f'"paymentAmount":"1","paymentType":"CSH"}}'
    )
    return Sent("transactions.v1", value.encode(), partition, time)


@pytest.mark.timeout(300)
def test_a_full_history_takes_rules_and_no_transactions(
    java: Java, jars: Jars, kafka: str, tmp_path: Path
) -> None:
    log, registry = KafkaLog(kafka, "full-"), Registry()
    log.create()
    partitions = len(log.ends("transactions.v1"))
    day = registry.publish(1, draft("COUNT", ">", "100000", by=("payeeId",), seconds=86_400), 0, T)
    log.send([Sent("rules.v1", day)])
    workplace = Workplace(java, jars, kafka, tmp_path, shards=1)
    settings = {"TRIPLINE_MAX_HISTORY": str(MOST), "TRIPLINE_TOPIC_PREFIX": log.prefix}
    with running_engine(workplace, settings) as engine:
        # Few at a time: were one partition taken while the other one's payments are still on their way, history would
        # be in another order, of which less goes as long as the record clock stands.
        for first in range(0, PAYMENTS, AT_ONCE):
            log.send(payment(n, T + n * 3600, n % partitions) for n in range(first, first + AT_ONCE))
        takes = "tripline_engine_takes_transactions"
        eventually(lambda: engine.metric(takes) == 0, "the history is full")

        last = [payment(n, T + PAYMENTS * 3600 + n, n % partitions) for n in range(PAYMENTS, PAYMENTS + 20)]
        log.send(last)
        wide = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, T)
        log.send([Sent("rules.v1", wide)])
        statuses = "rule-status.v1"
        eventually(
            lambda: 2 in {status.get("ruleId") for status in log.read_json(statuses)}, "a rule is taken"
        )
        assert engine.metric(takes) == 0
        assert sum(transactions_taken(workplace, log).values()) == PAYMENTS
        assert "TRIPLINE_MAX_HISTORY=1000" in workplace.log.read_text()

        log.send([Sent("rules.v1", registry.move("RuleDeleted", "DELETED", 1, 0))])
        eventually(
            lambda: sum(transactions_taken(workplace, log).values()) == PAYMENTS + 20, "the rest is taken"
        )
        assert engine.metric(takes) == 1
    alerted = [
        alert["transaction"]["transactionId"] for alert in log.read_json("alerts.v1") if not alert["partial"]
    ]
    assert sorted(alerted) == sorted(f"t{n}" for n in range(PAYMENTS, PAYMENTS + 20))


def transactions_taken(workplace: Workplace, log: KafkaLog) -> dict[int, int]:
    """Ends of what committed micro-batches hold, by partition."""
    return committed_ends(spark_folder(workplace.checkpoint)).get(f"{log.prefix}transactions.v1", {})
