"""Micro-batches leave no file and no socket open behind them: an engine lives for months of ten to twenty a second."""

from __future__ import annotations

import pytest

from tests.e2e.support import garbage
from tests.e2e.support.engine_process import Queries
from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.player import Player

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000


@pytest.mark.timeout(300)
def test_micro_batches_leave_nothing_open(spark_queries: Queries, kafka: str) -> None:
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


def micro_batches(player: Player, numbers: range) -> None:
    """One for each number, at least: the next one is sent when the last is committed."""
    for number in numbers:
        player.send([Sent("transactions.v1", garbage.payment(number, T + number), number % 2, T + number)])
        player.wait()
