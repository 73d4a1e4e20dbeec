from __future__ import annotations

import numpy as np

from bench.throughput import RULES, workload
from bench.workload.workload import PARTITIONS


def test_the_backlog_lies_in_kafka_as_the_workload_says() -> None:
    load = workload(9_000, 50, seed=1)
    assert len(load) == 9_000
    assert load.preloaded == 6_000
    for partition in range(PARTITIONS):
        mine = load.partition == partition
        assert load.offset[mine].tolist() == list(range(int(mine.sum())))
    assert set(np.unique(load.payee)) == set(np.unique(load.beneficiary)) == set(range(50))
    assert (load.cents > 0).all()


def test_the_same_seed_gives_the_same_payments() -> None:
    first, second, other = workload(1_000, 50, 1), workload(1_000, 50, 1), workload(1_000, 50, 2)
    assert (first.payee == second.payee).all()
    assert (first.payee != other.payee).any()


def test_the_five_rules_share_no_number() -> None:
    assert [rule.rule_id for rule in RULES] == [1, 2, 3, 4, 5]
