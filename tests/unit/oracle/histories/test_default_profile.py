"""Random histories are deterministic, and have in them what they are for."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.oracle import Outcome, judge
from tests.oracle.generators.profile import Profile
from tests.oracle.histories.random_history import random_history

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(24)


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(judge(random_history(seed)) for seed in SEEDS)


def share(holding: int) -> float:
    return holding / len(SEEDS)


def test_the_same_seed_gives_the_same_history() -> None:
    assert random_history(7) == random_history(7)
    assert random_history(7) != random_history(8)


def test_the_profile_decides() -> None:
    batches = random_history(3, Profile(transactions=40, micro_batches=(5, 5), partitions=(3, 3), broken=0))
    assert len(batches) == 5
    assert sum(len(batch.records) for batch in batches) == 40
    assert {record.partition for batch in batches for record in batch.records} == {0, 1, 2}


def test_offsets_of_a_partition_rise() -> None:
    for seed in range(10):
        last: dict[int, int] = {}
        for batch in random_history(seed):
            for record in batch.records:
                assert record.offset > last.get(record.partition, -1)
                last[record.partition] = record.offset


def test_most_histories_alert() -> None:
    alerting = share(sum(bool(outcome.alerts) for outcome in outcomes()))
    print(f"share of histories with alerts: {alerting:.2f}")
    assert alerting >= 0.8


@pytest.mark.parametrize("reason", ["oversized", "unparseable", "too_late", "future_event", "out_of_order"])
def test_every_reject_reason_appears(reason: str) -> None:
    having = share(sum(any(r.reason == reason for r in outcome.rejects) for outcome in outcomes()))
    print(f"share of histories with {reason}: {having:.2f}")
    assert having >= 0.3


def test_late_warm_and_cold_alerts_appear() -> None:
    kinds: Counter[str] = Counter()
    for outcome in outcomes():
        kinds["late"] += any(alert["late"] is not None for alert in outcome.alerts)
        kinds["warm"] += any(alert["warm"] is True for alert in outcome.alerts)
        kinds["cold"] += any(alert["warm"] is False for alert in outcome.alerts)
    print({kind: f"{share(number):.2f}" for kind, number in kinds.items()})
    assert min(kinds["late"], kinds["warm"], kinds["cold"]) >= 0.5 * len(SEEDS)


def test_every_operator_and_grouping_size_alerts() -> None:
    alerts = [alert for outcome in outcomes() for alert in outcome.alerts]
    assert {alert["operator"] for alert in alerts} == {"=", "!=", ">=", "<=", ">", "<"}
    assert {len(alert["group"]) for alert in alerts if isinstance(alert["group"], dict)} == {0, 1, 2, 3}


def test_duplicates_null_groups_and_unreadable_rule_events_appear() -> None:
    assert sum(bool(outcome.duplicates) for outcome in outcomes()) >= 0.8 * len(SEEDS)
    assert sum(bool(outcome.null_groups) for outcome in outcomes()) >= 0.8 * len(SEEDS)
    assert any(outcome.skipped_rule_events for outcome in outcomes())


def test_sums_beyond_sixty_four_bits_appear() -> None:
    values = [str(alert["value"]) for outcome in outcomes() for alert in outcome.alerts]
    assert any(len(value.lstrip("-").split(".")[0]) > 14 for value in values)


def test_rules_are_traced_and_all_else_is_as_without() -> None:
    assert share(sum(bool(outcome.traces) for outcome in outcomes())) >= 0.2
    untraced = [judge(random_history(seed, Profile(traced=0))) for seed in SEEDS[:10]]
    assert not any(outcome.traces for outcome in untraced)
    for with_traces, without in zip(outcomes(), untraced, strict=False):
        for name in ("alerts", "rejects", "duplicates", "null_groups", "counts"):
            assert getattr(with_traces, name) == getattr(without, name)


def test_so_few_rules_are_traced_that_no_micro_batch_holds_a_thousand_records() -> None:
    for outcome in outcomes():
        assert len({trace["ruleId"] for trace in outcome.traces}) <= 4
    huge = Profile(transactions=1000, traced=1)
    assert not any(b"TRACE_RULE" in raw for batch in random_history(1, huge) for raw in batch.rule_events)
