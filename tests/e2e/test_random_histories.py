"""Random histories through real Kafka and real Spark, two partitions, two shards or one: the oracle's alerts.

One Spark session runs the engine's streaming query once per history, two at a time, each on topics, checkpoint and
projection of its own (query_server.py says why). Rule events, ticks and records are sent step by step while
the query runs, so Spark cuts where it likes; then all of it is read back from Kafka, cut as engine-order.v1 says, and
judged by the oracle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import pytest

from tests.e2e.support.engine_process import Queries
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.player import Player
from tests.e2e.support.verdict import read_verdict
from tests.in_parts import in_parts
from tests.oracle.generators.profile import (
    EVERYTHING_AND_MORE,
    EVERYTHING_AND_SHADOWS,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import random_history

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

AT_ONCE = 2
# Few steps: each micro-batch costs a good part of a second; the evaluator's own test has thousands of histories.
PROFILE = Profile(transactions=240, micro_batches=(3, 5), partitions=(2, 2), rules=(3, 7))
SIZES = {name: getattr(PROFILE, name) for name in ("transactions", "micro_batches", "partitions", "rules")}
EVERYTHING = [replace(profile, **SIZES) for profile in (EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE)]
"""The whole language, commands of operators, and backfilled records among the others: every second history; every
fourth one has relative limits, weights, deviations, aggregates of order and rules by parties too."""


@pytest.mark.timeout(900)
@in_parts(8, with_soak=40)
def test_random_histories(
    spark_queries: Queries, kafka: str, histories: range, record_property: Callable[[str, object], None]
) -> None:
    def played(seed: int) -> Counter[str]:
        # every eighth is judged by one shard
        profile, shards = EVERYTHING[seed // 2 % 2] if seed % 2 else PROFILE, 1 if seed % 8 == 7 else 2
        return one_history(spark_queries, KafkaLog(kafka, f"h{seed}-"), Random(seed), shards, profile)

    # while one waits for its micro-batch, the other one sends
    with ThreadPoolExecutor(AT_ONCE) as pool:
        shares = sum(pool.map(played, histories), Counter[str]())
    record_property("told", f"{dict(shares)}")
    assert shares["histories"] == len(histories)
    assert shares["with alerts"] >= 0.8 * len(histories)
    assert shares["with backfilled ones"] >= 0.2 * len(histories)
    assert shares["with alerts of parties"] >= min(2, len(histories) // 8)
    assert shares["with segments in files"] >= 0.8 * len(histories)


@pytest.mark.timeout(300)
def test_random_histories_with_shadows(spark_queries: Queries, kafka: str) -> None:
    """Beside the alerts stand those of shadows, in a topic of their own; of one that is rolled out in either."""
    profile, shares = replace(EVERYTHING_AND_SHADOWS, **SIZES), Counter[str]()
    for seed, shards in ((20, 2), (26, 1)):
        log = KafkaLog(kafka, f"shadows{seed}-")
        shares += one_history(spark_queries, log, Random(seed), shards, profile)
    assert shares["with alerts"] == shares["with shadows' alerts"] == 2
    assert shares["with versions in both topics"] == 2


def one_history(process: Queries, log: KafkaLog, rng: Random, shards: int, profile: Profile) -> Counter[str]:
    log.create()
    # a small cap cuts inside of what was sent at once
    with process.query(log.prefix, shards, rng.choice([60, 100_000])) as folder:
        Player(log, folder, process.alive).play(random_history(rng.getrandbits(62), profile), rng, pause=0.6)
        in_files = any(path.is_file() for path in (folder.parent / "segments").rglob("*"))
    verdict = read_verdict(log)
    verdict.assert_equal()
    return verdict.shares() + Counter({"with segments in files": int(in_files)})
