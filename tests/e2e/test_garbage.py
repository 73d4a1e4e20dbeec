"""Garbage in every topic that the query reads: nothing is lost, neighbours are unaffected, the query goes on."""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from tests.e2e.support import garbage
from tests.e2e.support.engine_process import Queries
from tests.e2e.support.kafka_log import KafkaLog, Logged, Sent
from tests.e2e.support.player import Player
from tests.e2e.support.verdict import read_verdict
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_engine.spark.rows.record_limits import REJECT_BYTES

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
LARGEST = 4 << 20


@pytest.mark.timeout(300)
@pytest.mark.parametrize("shards", [2, 1])
def test_garbage_in_every_topic(spark_queries: Queries, kafka: str, shards: int) -> None:
    log, rng = KafkaLog(kafka, f"garbage-{shards}-"), Random(1)
    log.create(**{"max.message.bytes": str(LARGEST)})
    registry = Registry()
    first, second, third = (registry.publish(n, draft("COUNT", ">=", "1", by=()), 0, T) for n in (1, 2, 3))
    values = garbage.anything(rng) + garbage.transactions(rng, T)
    with spark_queries.query(log.prefix, shards, 100_000) as folder:
        player = Player(log, folder, spark_queries.alive)
        player.send([Sent("rules.v1", first), Sent("engine-ticks.v1", b'{"clock":%d}' % (T - 1000))])
        # a rule and what it is to judge are not sent together: an anchor that no rule needs yet keeps nothing, and a
        # micro-batch may know more of one topic than of another that was written before
        player.wait()
        # each with a good neighbour on either side, on both partitions
        player.send(sent for n, value in enumerate(values) for sent in with_neighbours(n, value))
        player.wait()
        player.send(Sent("rules.v1", event) for event in garbage.anything(rng) + garbage.rule_events(second))
        player.send(
            Sent("engine-ticks.v1", tick) for tick in garbage.anything(rng) + garbage.ticks(T + 10**9)
        )
        player.wait()
        # what comes after all that is heard
        player.send(
            [Sent("rules.v1", second), Sent("rules.v1", third), Sent("engine-ticks.v1", b'{"clock":%d}' % T)]
        )
        player.send(with_neighbours(len(values), b""))
        player.wait()

    verdict = read_verdict(log)
    verdict.assert_equal()
    alerted = {(alert["ruleId"], alert["transaction"]["transactionId"]) for alert in verdict.alerts.values()}
    assert {(1, f"good-{1000 + n}") for n in range(2 * len(values) + 2)} <= alerted
    assert (3, f"good-{1000 + 2 * len(values)}") in alerted
    records = {(record.partition, record.offset): record for record in log.read("transactions.v1")}
    for position, reject in verdict.rejects.items():
        assert_tells_all(reject, records[position])


def with_neighbours(number: int, value: bytes | None) -> list[Sent]:
    """A value between two good payments."""
    before, after = (garbage.payment(1000 + 2 * number + n, T) for n in (0, 1))
    return [Sent("transactions.v1", data, number % 2, T) for data in (before, value, after)]


def assert_tells_all(reject: Logged, record: Logged) -> None:
    """What was refused for its form can be got back, as it was, from the reject."""
    headers = {name: content.decode() for name, content in reject.headers.items()}
    assert (headers["topic"], headers["partition"], headers["offset"]) == (
        "transactions.v1", str(record.partition), str(record.offset)
    )  # fmt: skip
    assert headers["detail"]
    if headers["reason"] in ("unparseable", "oversized"):
        raw = record.value or b""
        assert reject.value == raw[:REJECT_BYTES]
        assert headers["length"] == str(len(raw))
        assert headers["sha256"] == hashlib.sha256(raw).hexdigest()
