"""Micro-batches of a query: how far apart they begin, and that they leave nothing behind."""

from __future__ import annotations

import json

import pytest

from tests.e2e.support import garbage
from tests.e2e.support.engine_process import Queries
from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.player import Player

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
INTERVAL_MS = 700


@pytest.mark.timeout(300)
def test_micro_batches_leave_nothing_open(spark_queries: Queries, kafka: str) -> None:
    # an engine lives for months of ten to twenty a second
    log = KafkaLog(kafka, "open-files-")
    log.create()
    with spark_queries.query(log.prefix, 1, 1_000) as folder:
        player = Player(log, folder, spark_queries.alive)
        micro_batches(player, range(8))
        before = spark_queries.open_files()
        micro_batches(player, range(8, 36))
        after = spark_queries.open_files()
    # the state store's own files come and go
    assert after - before < 20


@pytest.mark.timeout(300)
def test_a_micro_batch_waits_for_its_turn(spark_queries: Queries, kafka: str) -> None:
    log = KafkaLog(kafka, "interval-")
    log.create()
    with spark_queries.query(log.prefix, 1, 1_000, INTERVAL_MS) as folder:
        player = Player(log, folder, spark_queries.alive)
        micro_batches(player, range(6))
        begun = [begin(file.read_text()) for file in (folder / "offsets").glob("[0-9]*")]
    assert len(begun) >= 6
    # Spark begins them at multiples of the interval, or behind, where one took longer
    assert len({time // INTERVAL_MS for time in begun}) == len(begun)


def micro_batches(player: Player, numbers: range) -> None:
    """One for each number, at least: the next one is sent when the last is committed."""
    for number in numbers:
        player.send([Sent("transactions.v1", garbage.payment(number, T + number), number % 2, T + number)])
        player.wait()


def begin(offsets: str) -> int:
    """When a micro-batch was begun (ms), by Spark's own file of it."""
    time: int = json.loads(offsets.splitlines()[1])["batchTimestampMs"]
    return time
