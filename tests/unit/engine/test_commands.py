"""Commands of operators (decision 0039), by cases small enough to do by hand.

Each is judged in memory, on two shards, with all memory lost before every micro-batch, and with files that two
workers use by turns; all have to say the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.oracle.drafts import Branch, Draft, chained
from tests.oracle.model import Json, MicroBatch, Record
from tests.oracle.registry import Registry
from tests.oracle.scripting import batch, draft, payment
from tests.unit.engine.harness import Engine

T = 1_700_000_000_000
MINUTE = 60_000

Step = bytes | Record | int
"""A rule event, a payment, or a tick's clock in ms."""


def at(
    offset: int, seconds: float, amount: str = "1", on_record: float | None = None, **more: Json
) -> Record:
    """A payment at T + seconds, on record at T + on_record where that is another time."""
    later = seconds if on_record is None else on_record
    return payment(offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=more)


def by_payee(
    function: str,
    operator: str,
    limit: str,
    by: tuple[str, ...] = ("payeeId",),
    seconds: int = 60,
    **more: Any,
) -> Draft:
    """By payee, over a minute."""
    return draft(function, operator, limit, by=by, seconds=seconds, **more)


def batches_of(steps: tuple[Step | tuple[Step, ...], ...]) -> list[MicroBatch]:
    """Each step a micro-batch of its own; several steps in a tuple share one."""
    found = []
    for step in steps:
        together = step if isinstance(step, tuple) else (step,)
        found.append(
            batch(
                events=[each for each in together if isinstance(each, bytes)],
                ticks=[each for each in together if isinstance(each, int)],
                records=[each for each in together if isinstance(each, Record)],
            )
        )
    return found


def judged(*steps: Step | tuple[Step, ...]) -> Engine:
    """The engine that has taken these steps, however it was treated."""
    batches = batches_of(steps)
    with tempfile.TemporaryDirectory() as directory:
        engines = [Engine(), Engine(2), Engine(), Engine(1, Path(directory))]
        for each in batches:
            engines[2].forget()
            engines[3].change_worker()
            for engine in engines:
                engine.take(each)
    for engine in engines[1:]:
        assert said(engine) == said(engines[0])
    return engines[0]


def said(engine: Engine) -> list[Any]:
    key = lambda alert: (alert["ruleId"], alert["transaction"]["transactionId"])  # noqa: E731
    return [
        sorted(engine.alerts(), key=key),
        sorted(engine.rejects()),
        engine.statuses(),
        engine.counts(),
        engine.counters["duplicates"],
        sorted(engine.traces(), key=lambda trace: (trace["ruleId"], trace["offset"])),
    ]


def told(engine: Engine) -> list[tuple[int, str, str]]:
    """Of each alert the rule, the transaction and the value."""
    return [(each["ruleId"], each["transaction"]["transactionId"], each["value"]) for each in engine.alerts()]


# --- CLEAR_RULE


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
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    clears = tuple(registry.control("CLEAR_RULE", T, {"ruleId": number}) for number in range(1, 8))
    before = (at(1, 0, "7", beneficiaryId=1), at(2, 1, "3", beneficiaryId=2), at(3, 1, "3", beneficiaryId=1))
    engine = judged(rules, before[:2], clears, at(4, 2, "5", beneficiaryId=3), at(5, 3, "4", beneficiaryId=3))
    after = [each for each in told(engine) if each[1] in ("t4", "t5")]
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
    other = registry.publish(2, by_payee("COUNT", ">=", "1", by=("beneficiaryId",)), 0, 0)
    engine = judged(first, at(1, 0), clear, (wider, other), at(2, 1))
    assert told(engine) == [(2, "t1", "1"), (1, "t2", "1"), (2, "t2", "2")]


def test_firing_states_are_forgotten_durably() -> None:
    registry = Registry()
    drafts = [
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "1", cooldown=3600),
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "1", cooldown=3600),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    clears = tuple(registry.control("CLEAR_RULE", T, {"ruleId": number}) for number in (1, 2))
    engine = judged(rules, at(1, 0), clears, at(2, 1), at(3, 2))
    assert [each[:2] for each in told(engine)] == [*[(n, "t1") for n in (1, 2, 3, 4)], (1, "t2"), (2, "t2")]


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
    long_after = T + 60 * MINUTE
    steps += [long_after, registry.move("RulePaused", "PAUSED", 2, T)]
    for each in batches_of(tuple(steps)):
        engine.take(each)
    assert b'"forgotten":{"before":0}' in engine.logs[0].committed["rules"]
    assert b'"forgotten":{"before":1}' not in engine.logs[0].committed["rules"]
    assert b'"cleared":[3,{"payeeId":1' in engine.logs[0].committed["rules"]


# --- VOID_TRANSACTION


def void(registry: Registry, number: int, seconds: float) -> bytes:
    what: dict[str, Json] = {"transactionId": f"t{number}", "eventTime": T + int(1000 * seconds)}
    return registry.control("VOID_TRANSACTION", T, what)


def test_a_voided_one_is_in_no_window_on_no_anchor_and_under_no_filter() -> None:
    registry = Registry()
    cash: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}
    drafts = [
        *[by_payee(function, ">", "0") for function in ("SUM", "MAX", "MIN", "AVG", "COUNT")],
        by_payee("SUM", ">", "0", by=("beneficiaryId",)),
        by_payee("SUM", ">", "0", by=("beneficiaryId", "payeeId"), only=cash),
        by_payee("SUM", ">", "0", by=()),
        by_payee("COUNT", ">", "0", by=("paymentAmount",)),
        by_payee("COUNT_DISTINCT", ">", "0", field="beneficiaryId"),
        by_payee("COUNT_DISTINCT", ">", "0", by=(), field="payeeId"),
        by_payee("COUNT", ">", "4", reset=True),
        by_payee("SUM", ">", "0", only=cash),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    before = at(1, 0, "5", beneficiaryId=1), at(2, 1, "8"), at(3, 2, "2")
    after = at(4, 3, "5")
    engine = judged(rules, before, void(registry, 2, 1), after)
    values = ["12", "5", "2", "4", "3", "7", "7", "12", "2", "2", "1", "12"]
    assert sorted(told(engine)[-12:]) == [
        (rule, "t4", value) for rule, value in zip([n for n in range(1, 14) if n != 12], values, strict=True)
    ]
    of_all = next(alert for alert in reversed(engine.alerts()) if alert["ruleId"] == 8)
    listed = [each["transactionId"] for each in of_all["contributors"]["transactions"]]
    assert listed == ["t4", "t3", "t1"]


def test_its_id_stays_known_and_nothing_is_said_of_it_again() -> None:
    registry = Registry()
    rule = registry.publish(1, by_payee("COUNT", ">=", "2"), 0, 0)
    twin = payment(9, T + 500, more={"transactionId": "t1"})
    engine = judged(rule, at(1, 0), void(registry, 1, 0), twin, at(2, 1), at(3, 2))
    assert told(engine) == [(1, "t3", "2")]
    assert engine.counters["duplicates"] == 3
    assert engine.counts()[1]["duplicates"] == 1


def test_it_needs_both_id_and_event_time_and_one_that_was_accepted() -> None:
    registry = Registry()
    rule = registry.publish(1, by_payee("COUNT", ">=", "3"), 0, 0)
    commands = (void(registry, 1, 1), void(registry, 2, 0), void(registry, 3, 2), void(registry, 7, 0))
    engine = judged(rule, (at(1, 0), at(2, 1)), (*commands, at(3, 2)))
    assert told(engine) == [(1, "t3", "3")]


def test_it_is_not_the_newest_not_caught_up_and_not_judged_again() -> None:
    registry = Registry()
    rules = (
        registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0),
        registry.publish(2, by_payee("COUNT", ">=", "2", late_events="reevaluate"), 0, 0),
    )
    away = void(registry, 1, 9)
    later = registry.publish(3, by_payee("COUNT", ">=", "1"), 0, 0)
    engine = judged(rules, at(1, 9), (away, later), at(2, 5, on_record=9), at(3, 4, on_record=9))
    assert told(engine) == [
        (1, "t1", "1"),
        *[(1, "t2", "1"), (3, "t2", "1")],
        *[(1, "t3", "1"), (2, "t2", "2"), (3, "t3", "1")],
    ]
    assert engine.alerts()[1]["late"] is None


def test_what_it_had_brought_about_stays() -> None:
    registry = Registry()
    drafts = [
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "1", cooldown=10),
        by_payee("COUNT", ">=", "2", reset=True),
        by_payee("COUNT", ">=", "1", by=("beneficiaryId", "payeeId"), firing="crossing"),
        by_payee("COUNT", ">=", "1", by=(), firing="crossing"),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    voids = void(registry, 1, 0), void(registry, 2, 1)
    engine = judged(rules, (at(1, 0), at(2, 1)), voids[1], voids[0], at(3, 2), at(4, 3), at(5, 70))
    # the crossings are held, the cooldown lasts, t1 and t2 lie behind the reset; then the records are too old
    assert sorted((transaction, rule) for rule, transaction, _ in told(engine)) == [
        *[("t1", 1), ("t1", 2), ("t1", 4), ("t1", 5)],
        *[("t2", 3)],
        *[("t4", 3)],
        *[("t5", 1), ("t5", 2), ("t5", 4), ("t5", 5)],
    ]


def test_alerts_that_were_given_stand_and_conditions_look_past_it_too() -> None:
    registry = Registry()
    sums, counts = by_payee("SUM", ">=", "3"), by_payee("COUNT", ">=", "2", by=("beneficiaryId", "payeeId"))
    rule = registry.publish(1, chained(Branch("any", (sums, counts))), 0, 0)
    engine = judged(rule, at(1, 0, "3"), void(registry, 1, 0), at(2, 1, "1"), at(3, 2, "1"))
    assert [alert["transaction"]["transactionId"] for alert in engine.alerts()] == ["t1", "t3"]
    assert [each["value"] for each in engine.alerts()[1]["conditions"]] == ["2", "2"]


def test_where_it_is_is_kept_while_it_is_retained() -> None:
    registry, engine = Registry(), Engine()
    rule = registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0)
    for each in batches_of(((rule, T), (at(1, 0), at(2, 1)), void(registry, 2, 1))):
        engine.take(each)
    assert engine.logs[0].committed["head"].count(b'"voided":[1]') == 3
    engine.take(batch(ticks=[T + 60 * MINUTE]))
    assert engine.logs[0].committed["head"].count(b'"voided":[]') == 3
