"""CLEAR_RULE and CLEAR_STATE_ALL: what was accepted before counts no more, durably."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.unit.engine.support.command_histories import (
    MINUTE,
    Step,
    T,
    at,
    batches_of,
    by_payee,
    judged,
    told,
)
from tests.unit.engine.support.shard_harness import KEEPING_ALL, Engine


def test_a_cleared_rule_knows_nothing_of_before_and_others_do() -> None:
    registry = Registry()
    rules = [registry.publish(number, by_payee("COUNT", ">=", "2"), 0, 0) for number in (1, 2)]
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    engine = judged(tuple(rules), at(1, 0), clear, at(2, 1), at(3, 2))
    assert told(engine) == [(2, "t2", "2"), (1, "t3", "2"), (2, "t3", "3")]


def test_every_function_and_a_window_that_resets_begin_anew() -> None:
    registry = Registry()
    drafts = [
        by_payee("SUM", ">", "0"),
        by_payee("MAX", ">", "0"),
        by_payee("MIN", ">", "0"),
        by_payee("COUNT_DISTINCT", ">", "0", field="beneficiaryId"),
        by_payee("COUNT", ">=", "3", reset=True),
        by_payee("MAX", ">", "5", reset=True),
        by_payee("COUNT_DISTINCT", ">", "1", field="beneficiaryId", reset=True),
    ]
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    clears = tuple(registry.control("CLEAR_RULE", T, {"ruleId": number}) for number in range(1, 8))
    before = (at(1, 0, "7", beneficiaryId=1), at(2, 1, "3", beneficiaryId=2), at(3, 1, "3", beneficiaryId=1))
    engine = judged(rules, before[:2], clears, at(4, 2, "5", beneficiaryId=3), at(5, 3, "4", beneficiaryId=3))
    after = [row for row in told(engine) if row[1] in ("t4", "t5")]
    assert after == [
        *[(1, "t4", "5"), (2, "t4", "5"), (3, "t4", "5"), (4, "t4", "1")],
        *[(1, "t5", "9"), (2, "t5", "5"), (3, "t5", "4"), (4, "t5", "1")],
    ]


def test_what_was_accepted_before_makes_nothing_late_and_is_not_caught_up() -> None:
    registry = Registry()
    first = registry.publish(1, by_payee("COUNT", ">=", "1"), T + MINUTE, 0)
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    second = registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0)
    engine = judged(first, at(1, 30), (clear, second), at(2, 10, on_record=30), at(3, 5, on_record=30))
    assert told(engine) == [(1, "t2", "1"), (1, "t3", "1")]
    assert [alert["late"] for alert in engine.alerts()] == [None, {"newestEventTime": T + 10_000}]


def test_a_version_taken_later_belongs_to_the_rule_on_another_anchor_too() -> None:
    registry = Registry()
    first = registry.publish(1, by_payee("COUNT", ">=", "9"), 0, 0)
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    wider = registry.publish(1, by_payee("COUNT", ">=", "1", by=("beneficiaryId",)), 0, 0)
    still = registry.publish(1, by_payee("COUNT", ">=", "1", by=("beneficiaryId",), seconds=61), 0, 0)
    other = registry.publish(2, by_payee("COUNT", ">=", "1", by=("beneficiaryId",)), 0, 0)
    engine = judged(first, at(1, 0), clear, (wider, still, other), at(2, 1), event_type=KEEPING_ALL)
    assert told(engine) == [(2, "t1", "1"), (1, "t2", "1"), (2, "t2", "2")]


def test_firing_states_are_forgotten_durably() -> None:
    registry = Registry()
    drafts = [
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "1", cooldown=3600),
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "1", cooldown=3600),
    ]
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    clears = tuple(registry.control("CLEAR_RULE", T, {"ruleId": number}) for number in (1, 2))
    engine = judged(rules, at(1, 0), clears, at(2, 1), at(3, 2))
    assert [row[:2] for row in told(engine)] == [*[(n, "t1") for n in (1, 2, 3, 4)], (1, "t2"), (2, "t2")]


def test_a_cooldown_is_forgotten_where_nothing_is_retained() -> None:
    registry = Registry()
    rules = (registry.publish(1, by_payee("COUNT", ">=", "1", cooldown=360_000), 0, 0), T)
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    long_after = 200 * 60
    silent = judged(rules, at(1, 0), T + long_after * 1000, at(2, long_after))
    assert told(silent) == [(1, "t1", "1")]
    engine = judged(rules, at(1, 0), T + long_after * 1000, clear, at(2, long_after))
    assert told(engine) == [(1, "t1", "1"), (1, "t2", "1")]


def test_nothing_from_before_is_judged_again() -> None:
    registry = Registry()
    again = by_payee("COUNT", ">=", "2", late_events="reevaluate")
    rules = tuple(registry.publish(number, again, 0, 0) for number in (1, 2))
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    engine = judged(rules, at(1, 10), clear, at(2, 20), at(3, 5, on_record=20))
    # t1 is none of rule 1's any more, t2 is
    assert told(engine) == [(2, "t2", "2"), (1, "t2", "2"), (2, "t1", "2")]


def test_the_warm_floor_of_its_versions_rises() -> None:
    registry = Registry()
    rules = [registry.publish(number, by_payee("COUNT", ">=", "9"), 0, 0) for number in (1, 2)]
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    pauses = [registry.move("RulePaused", "PAUSED", number, T) for number in (1, 2)]
    newer = registry.publish(1, by_payee("COUNT", ">=", "9", seconds=120), T, 0)
    assert judged(tuple(rules), clear, pauses[0]).statuses()[2]["warmFrom"] is None
    engine = judged(tuple(rules), clear, T, pauses[0])
    assert engine.statuses()[2]["warmFrom"] == T + MINUTE
    engine = judged(tuple(rules), T, T + MINUTE, clear, tuple(pauses), newer)
    cleared = T + MINUTE + 300_000
    assert [status["warmFrom"] for status in engine.statuses()[2:]] == [
        cleared + MINUTE,
        T + MINUTE,
        cleared + 2 * MINUTE,
    ]


def test_of_a_rule_that_is_not_there_it_is_taken_and_does_nothing() -> None:
    registry = Registry()
    rule = registry.publish(1, by_payee("COUNT", ">=", "2"), 0, 0)
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 2})
    engine = judged(rule, at(1, 0), clear, at(2, 1))
    assert told(engine) == [(1, "t2", "2")]
    assert engine.counters["unreadable_rule_events"] == 0
    gone = registry.move("RuleDeleted", "DELETED", 1, T)
    assert told(judged(rule, gone, registry.control("CLEAR_RULE", T, {"ruleId": 1}), at(1, 0))) == []


def test_rules_share_lists_again_when_nothing_older_is_retained() -> None:
    registry, engine = Registry(), Engine()
    rules = [registry.publish(number, by_payee("SUM", ">", "0"), 0, 0) for number in (1, 2)]
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    steps: list[Step | tuple[Step, ...]] = [(*rules, T), at(1, 0), clear, at(2, 1)]
    for micro_batch in batches_of(tuple(steps)):
        engine.take(micro_batch)
    before = engine.logs[0].committed["rules"]
    for micro_batch in batches_of((T + 60 * MINUTE, registry.move("RulePaused", "PAUSED", 2, T))):
        engine.take(micro_batch)
    assert b'"forgotten":{"before":1' in before
    assert b'"forgotten":{"before":1' not in engine.logs[0].committed["rules"]
    assert b'"cleared":[3,{"payeeId":1' in engine.logs[0].committed["rules"]
