"""Which alerts the benchmark expects: the engine's order from its records, versions in force, ids and values."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np

from bench.independent.expected import Expected, expected_alerts, order_of
from bench.workload.rules import FIVE, Version, in_force, versions_of
from bench.workload.workload import Workload
from tripline_contracts import canonical

COUNT, MAX = FIVE[1], FIVE[3]
TIME = np.array([1_000, 2_000, 3_000, 4_000])


def load(preloaded: int = 1) -> Workload:
    """Four payments of one payer, turn by turn on two partitions."""
    same = np.zeros(4, np.int64)
    return Workload(
        rate=1, preloaded=preloaded, payee=same + 7, beneficiary=same + 9, payment_type=same,
        cents=np.array([500, 100, 900, 200]), partition=np.array([0, 1, 0, 1]), offset=np.array([0, 0, 1, 1]),
    )  # fmt: skip


def batch(rules: tuple[int, int] | None, *parts: tuple[int, int, int]) -> dict[str, object]:
    """An order record: offsets in rules.v1, and (partition, from, until)."""
    return {
        "rules": None if rules is None else {"from": rules[0], "until": rules[1]},
        "transactions": [{"partition": p, "from": begin, "until": end} for p, begin, end in parts],
    }


def identity(version: Version, number: int) -> str:
    """Of the alert of payment `number`."""
    group = {"payeeId": "7"}
    return canonical.alert_id(
        version.subject.rule_id, version.version, group, f"b-{number}", int(TIME[number])
    )


def test_the_order_is_by_micro_batch_then_time_then_partition() -> None:
    # the second payment of partition 0 comes a micro-batch before the first of partition 1
    batches = [batch((0, 1), (0, 0, 2)), batch(None, (1, 0, 2)), batch((1, 3))]
    order = order_of(load(), TIME, batches, 4)
    assert order.batch.tolist() == [0, 1, 0, 1]
    assert order.rank.tolist() == [0, 2, 1, 3]
    assert order.taken_in.tolist() == [0, 2, 2, 3]  # nobody has taken the last


def test_a_version_is_in_force_from_its_time_and_its_micro_batch_on() -> None:
    versions = [
        Version(COUNT, 1, 0, Decimal(1), 0),
        Version(COUNT, 2, 1, Decimal(2), 2_500),
        Version(COUNT, 3, 2, Decimal(3), 1_500),
    ]
    taken_in = np.array([0, 0, 1])
    positions = in_force(versions, TIME, np.array([0, 0, 0, 1]), taken_in)
    assert positions.tolist() == [0, 0, 1, 2]


def test_nothing_is_in_force_before_the_first_version() -> None:
    versions = [Version(COUNT, 1, 0, Decimal(1), 2_500)]
    assert in_force(versions, TIME, np.zeros(4, np.int64), np.array([0])).tolist() == [-1, -1, 0, 0]


def test_alerts_have_the_ids_and_values_of_the_specification() -> None:
    order = order_of(load(), TIME, [batch((0, 2), (0, 0, 2), (1, 0, 2))], 2)
    rules = [Version(COUNT, 1, 0, Decimal(2), 0), Version(MAX, 1, 1, Decimal("8.99"), 0)]
    expected = expected_alerts(load(), TIME, order, rules)
    assert expected == {
        identity(rules[0], 2): Expected("3", 3),
        identity(rules[0], 3): Expected("4", 4),
        identity(rules[1], 2): Expected("9", 3),
        identity(rules[1], 3): Expected("9", 4),
    }


def test_preloaded_payments_count_but_are_not_asked_about() -> None:
    order = order_of(load(3), TIME, [batch((0, 1), (0, 0, 2), (1, 0, 2))], 1)
    rules = [Version(COUNT, 1, 0, Decimal(0), 0)]
    assert list(expected_alerts(load(3), TIME, order, rules).values()) == [Expected("4", 4)]


def test_an_event_delivered_twice_is_one_version() -> None:
    def event(position: int, version: int, limit: str) -> bytes:
        return json.dumps(
            {"position": position, "type": "RulePublished", "ruleId": 2, "version": version,
             "definition": {"limit": limit}, "effectiveFrom": 5}
        ).encode()  # fmt: skip

    first, second = event(1, 1, "10"), event(2, 2, "11")
    versions = versions_of([(0, first), (1, first), (2, second)])
    assert [(version.version, version.offset, str(version.limit)) for version in versions] == [
        (1, 0, "10"),
        (2, 2, "11"),
    ]
