"""CLEAR_GROUP: one group of one rule begins anew."""

from __future__ import annotations

import pytest

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.engine.support.command_histories import (
    MINUTE,
    T,
    at,
    by_payee,
    judged,
    told,
)


def clear_group(registry: Registry, rule_id: int, group: Json) -> bytes:
    return registry.control("CLEAR_GROUP", T, {"ruleId": rule_id, "group": group})


def test_one_group_of_one_rule_begins_anew() -> None:
    registry = Registry()
    rules = tuple(registry.publish(number, by_payee("COUNT", ">=", "2"), 0, 0) for number in (1, 2))
    clear = clear_group(registry, 1, {"payeeId": "25"})
    before, after = (at(1, 0), at(2, 0, payeeId=26)), (at(3, 1), at(4, 1, payeeId=26), at(5, 2))
    engine = judged(rules, before, clear, after)
    assert sorted(told(engine)) == [
        *[(1, "t4", "2"), (1, "t5", "2")],
        *[(2, "t3", "2"), (2, "t4", "2"), (2, "t5", "3")],
    ]


@pytest.mark.parametrize(
    ("by", "group", "begins_anew"),
    [
        ((), {}, True),
        (("paymentAmount",), {"paymentAmount": "1"}, True),
        (("paymentAmount",), {"paymentAmount": "2"}, False),
        (("paymentType",), {"paymentType": "CSH"}, True),
        (("paymentType",), {"paymentType": "CRD"}, False),
        (("beneficiaryId", "payeeId"), {"payeeId": "25", "beneficiaryId": "12"}, True),
        (("beneficiaryId", "payeeId"), {"payeeId": "25", "beneficiaryId": "13"}, False),
        (("payeeId",), {"payeeId": "25", "beneficiaryId": "12"}, False),
        (("payeeId",), {}, False),
        (("payeeId",), {"payeeId": ""}, False),
    ],
)
def test_a_group_is_named_by_the_values_of_the_grouping(
    by: tuple[str, ...], group: Json, begins_anew: bool
) -> None:
    registry = Registry()
    drafts = [
        by_payee("COUNT", ">=", "2", by),
        by_payee("COUNT", ">=", "1", by, firing="crossing"),
        by_payee("COUNT", ">=", "1", by, cooldown=360_000),
        by_payee("COUNT", ">=", "2", by, reset=True),
        by_payee("COUNT", ">=", "2", by, late_events="reevaluate"),
    ]
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    clears = tuple(clear_group(registry, number, group) for number in range(1, 6))
    engine = judged(rules, at(1, 10), clears, at(2, 11))
    second = [rule for rule, transaction, _ in told(engine) if transaction == "t2"]
    assert sorted(second) == ([2, 3] if begins_anew else [1, 4, 5])
    assert engine.counters["unreadable_rule_events"] == 0


def test_of_the_versions_that_are_held_those_that_group_so() -> None:
    registry = Registry()
    first = registry.publish(1, by_payee("COUNT", ">=", "2"), 0, 0)
    second = registry.publish(1, by_payee("COUNT", ">=", "2", by=("beneficiaryId",)), T + 20_000, 0)
    clear = clear_group(registry, 1, {"payeeId": "25"})
    third = registry.publish(1, by_payee("COUNT", ">=", "2"), T + 40_000, 0)
    engine = judged((first, second), at(1, 10), clear, third, (at(2, 12), at(3, 22), at(4, 42)))
    # the first has begun anew, the second groups otherwise, the third was not there yet
    assert sorted(told(engine)) == [(1, "t3", "3"), (1, "t4", "4")]


def test_conditions_share_their_windows_so_that_a_group_of_them_is_left_alone() -> None:
    registry = Registry()
    counts = by_payee("COUNT", ">=", "2")
    rule = registry.publish(1, chained(Branch("all", (counts, counts))), 0, 0)
    engine = judged(rule, at(1, 0), clear_group(registry, 1, {"payeeId": "25"}), at(2, 1))
    assert [alert["transaction"]["transactionId"] for alert in engine.alerts()] == ["t2"]


def test_a_group_s_warm_floor_stays_and_what_is_no_group_is_skipped() -> None:
    registry = Registry()
    rule = registry.publish(1, by_payee("COUNT", ">=", "2"), 0, 0)
    groups: list[Json] = [{"payeeId": 25}, {"payeeId": None}, ["25"], {"payee": "25"}, {"paymentAmount": "x"}]
    wrong = []
    for group in groups:
        wrong.append(clear_group(registry, 1, group))
        registry.position -= 1  # what cannot be read takes no position
    clear, of_none = clear_group(registry, 1, {"payeeId": "25"}), clear_group(registry, 7, {"payeeId": "25"})
    pause = registry.move("RulePaused", "PAUSED", 1, T)
    engine = judged((rule, T), T + MINUTE, tuple(wrong), (clear, of_none, pause))
    assert engine.statuses()[-1]["warmFrom"] == T + MINUTE
    assert engine.counters["unreadable_rule_events"] == 5


def test_a_group_s_cooldown_is_forgotten_where_nothing_is_retained() -> None:
    registry = Registry()
    rules = (registry.publish(1, by_payee("COUNT", ">=", "1", cooldown=360_000), 0, 0), T)
    clear = clear_group(registry, 1, {"payeeId": "25"})
    long_after = 200 * 60
    later = (at(3, long_after), at(4, long_after, payeeId=26))
    engine = judged(rules, (at(1, 0), at(2, 0, payeeId=26)), T + long_after * 1000, clear, later)
    assert [row[1] for row in told(engine)] == ["t1", "t2", "t3"]
    assert b'"forgotten":{"before":0,"groups":[],"apart":null}' in engine.logs[0].committed["rules"]
