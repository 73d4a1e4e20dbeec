"""Random histories through a cluster of two workers: the oracle's alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.cluster.standalone import cluster
from tests.e2e.support.engine_process import Workplace, queries
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.test_random_histories import EVERYTHING, PROFILE, one_history
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SHARDS = (2, 1, 3, 2, 4, 2)


@pytest.mark.timeout(600)
def test_random_histories(
    java: Java, jars: Jars, kafka: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    shares: Counter[str] = Counter()
    with cluster(java, tmp_path, workers=2) as spark:
        workplace = Workplace(
            java, jars, kafka, tmp_path, more={"TRIPLINE_SPARK_MASTER": spark.address, **spark.environment}
        )
        with queries(workplace) as process:
            for seed, shards in enumerate(SHARDS):
                log = KafkaLog(kafka, f"cluster-{seed}-")
                profile = EVERYTHING[seed // 2 % 2] if seed % 2 else PROFILE
                shares += one_history(process, log, Random(seed), shards, profile)
        served = [len(worker.projections) for worker in spark.workers]
    record_property("told", f"{dict(shares)}; shards served by each worker: {served}")
    assert shares["histories"] == len(SHARDS)
    assert all(served)
