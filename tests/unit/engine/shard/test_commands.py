"""Commands of operators (decision 0039), by cases small enough to do by hand.

Each is judged in memory, on two shards, with all memory lost before every micro-batch, and with files that two
workers use by turns; all have to say the same.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.support.shard_harness import Engine

T = 1_700_000_000_000
MINUTE = 60_000

Step = bytes | Record | int
"""A rule event, a payment, or a tick's clock in ms."""


def at(
    offset: int,
    seconds: float,
    amount: str = "1",
    on_record: float | None = None,
    backfill: str | None = None,
    **more: Json,
) -> Record:
    """A payment at T + seconds, on record at T + on_record where that is another time."""
    event_time, later = T + int(1000 * seconds), T + int(1000 * (seconds if on_record is None else on_record))
    return payment(offset, event_time, amount, record_time=later, more=more, backfill=backfill)


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
    still = registry.publish(1, by_payee("COUNT", ">=", "1", by=("beneficiaryId",), seconds=61), 0, 0)
    other = registry.publish(2, by_payee("COUNT", ">=", "1", by=("beneficiaryId",)), 0, 0)
    engine = judged(first, at(1, 0), clear, (wider, still, other), at(2, 1))
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
    for each in batches_of(tuple(steps)):
        engine.take(each)
    before = engine.logs[0].committed["rules"]
    for each in batches_of((T + 60 * MINUTE, registry.move("RulePaused", "PAUSED", 2, T))):
        engine.take(each)
    assert b'"forgotten":{"before":1' in before
    assert b'"forgotten":{"before":1' not in engine.logs[0].committed["rules"]
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
    assert engine.logs[0].committed["head"].count(b'"voided":[[1,') == 3
    engine.take(batch(ticks=[T + 60 * MINUTE]))
    assert engine.logs[0].committed["head"].count(b'"voided":[]') == 3


# --- CLEAR_GROUP


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
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
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
    wrong = tuple(clear_group(registry, 1, group) for group in groups)
    clear, of_none = clear_group(registry, 1, {"payeeId": "25"}), clear_group(registry, 7, {"payeeId": "25"})
    pause = registry.move("RulePaused", "PAUSED", 1, T)
    engine = judged((rule, T), T + MINUTE, wrong, (clear, of_none, pause))
    assert engine.statuses()[-1]["warmFrom"] == T + MINUTE
    assert engine.counters["unreadable_rule_events"] == 5


def test_a_group_s_cooldown_is_forgotten_where_nothing_is_retained() -> None:
    registry = Registry()
    rules = (registry.publish(1, by_payee("COUNT", ">=", "1", cooldown=360_000), 0, 0), T)
    clear = clear_group(registry, 1, {"payeeId": "25"})
    long_after = 200 * 60
    later = (at(3, long_after), at(4, long_after, payeeId=26))
    engine = judged(rules, (at(1, 0), at(2, 0, payeeId=26)), T + long_after * 1000, clear, later)
    assert [each[1] for each in told(engine)] == ["t1", "t2", "t3"]
    assert b'"forgotten":{"before":0,"groups":[],"apart":null}' in engine.logs[0].committed["rules"]


# --- START_BACKFILL, END_BACKFILL


def start(registry: Registry) -> tuple[bytes, str]:
    """The command, and the name of the backfill."""
    raw = registry.control("START_BACKFILL", T)
    return raw, json.loads(raw)["commandId"]


def end(registry: Registry, name: str, complete_from: int | None = None) -> bytes:
    more: dict[str, Json] = {} if complete_from is None else {"completeFrom": complete_from}
    return registry.control("END_BACKFILL", T, {"backfillId": name, **more})


def test_while_it_stands_records_are_let_in_whatever_their_age() -> None:
    registry = Registry()
    opened, name = start(registry)
    ended = end(registry, name)
    old = [at(number, -3600 * number, on_record=0, backfill=name) for number in (1, 2)]
    out_of_order, early = at(3, -3600, backfill=name), at(4, 301, on_record=0, backfill=name)
    broken = payment(5, T, "x", backfill="other")
    another = at(6, 301, on_record=-7200, backfill="other")
    together = (opened, old[1], out_of_order, early, broken, another)
    engine = judged(T, old[0], together, (ended, at(7, 0, backfill=name)))
    assert sorted(engine.rejects()) == [
        (0, 1, "backfill_closed"),
        (0, 4, "future_event"),
        (0, 5, "unparseable"),
        (0, 6, "backfill_closed"),
        (0, 7, "backfill_closed"),
    ]
    assert engine.counters["backfilled"] == 6
    assert engine.counters["duplicates"] == 0


def test_several_stand_at_once_and_ending_another_is_nothing() -> None:
    registry = Registry()
    (first, one), (second, two) = start(registry), start(registry)
    closing = end(registry, one, T - 1), end(registry, one, 0), end(registry, "unknown", 0)
    brought = tuple(at(number, -3600, on_record=0, backfill=name) for number, name in enumerate((one, two)))
    rule = registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0)
    pause = registry.move("RulePaused", "PAUSED", 1, T)
    engine = judged((first, second, T), closing, brought, rule, T + MINUTE, pause)
    assert engine.rejects() == [(0, 0, "backfill_closed")]
    assert engine.statuses()[-1]["warmFrom"] == T - 1 + MINUTE


def test_it_triggers_nothing_and_is_counted_as_nothing_else() -> None:
    registry = Registry()
    opened, name = start(registry)
    drafts = [
        by_payee("COUNT", ">=", "1"),
        by_payee("COUNT", ">=", "1", firing="crossing"),
        by_payee("COUNT", ">=", "2", late_events="reevaluate"),
        by_payee("COUNT", ">=", "1", late_events="store"),
        by_payee("COUNT", ">=", "1", only={"field": "paymentType", "operator": "=", "value": "CRD"}),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    traces = tuple(registry.trace(number, T + MINUTE, T) for number in range(1, 6))
    later = registry.publish(6, by_payee("COUNT", ">=", "1"), 0, 0)
    old = at(1, -30, on_record=0, backfill=name)
    nobody = payment(3, T - 30_000, record_time=T, more={"payeeId": None}, backfill=name)
    engine = judged(
        (opened, *rules, *traces), (old, replace(old, offset=2), nobody), later, replace(old, offset=4)
    )
    assert engine.alerts() == []
    assert engine.traces() == []
    assert engine.counts() == {}
    assert engine.counters["backfilled"] == 5
    assert engine.counters["duplicates"] == 6
    assert engine.counters["null_groups"] == 0
    brought = [engine.counters[f"rule_backfilled:{number}"] for number in range(1, 7)]
    assert brought == [1, 1, 1, 1, 0, 0]


def test_it_counts_in_windows_and_as_the_newest() -> None:
    registry = Registry()
    opened, name = start(registry)
    drafts = [
        *[by_payee(function, ">", "0") for function in ("SUM", "MAX", "MIN", "COUNT")],
        by_payee("COUNT_DISTINCT", ">", "0", field="beneficiaryId"),
        by_payee("SUM", ">", "10", reset=True),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    brought = (
        at(1, -20, "7", on_record=0, backfill=name),
        at(2, -70, "0.5", on_record=0, backfill=name),
        at(3, 5, "4", on_record=0, backfill=name, beneficiaryId=13),
    )
    engine = judged((opened, *rules), brought, at(4, 0, "5"), at(5, 6, "6"))
    assert told(engine) == [
        *[(1, "t4", "12"), (2, "t4", "7"), (3, "t4", "5"), (4, "t4", "2"), (5, "t4", "1"), (6, "t4", "12")],
        *[(1, "t5", "22"), (2, "t5", "7"), (3, "t5", "4"), (4, "t5", "4"), (5, "t5", "2")],
    ]
    assert [alert["late"] for alert in engine.alerts()][:7] == [{"newestEventTime": T + 5000}] * 6 + [None]
    listed = [each["transactionId"] for each in engine.alerts()[6]["contributors"]["transactions"]]
    assert listed == ["t5", "t3", "t4", "t1"]


def test_a_backfilled_one_has_nothing_judged_again_and_never_is_itself() -> None:
    registry = Registry()
    opened, name = start(registry)
    again = by_payee("COUNT", ">=", "3", late_events="reevaluate")
    rule = registry.publish(1, again, 0, 0)
    brought = tuple(at(number, 10 - number, on_record=10, backfill=name) for number in (2, 3))
    after = at(4, 20, on_record=20, backfill=name)
    later = registry.publish(2, again, 0, 0)
    engine = judged((opened, rule), at(1, 10), (*brought, after), at(5, 6, on_record=20), later)
    # t5 comes into the windows of all four, of which only t1 was judged; caught up it is the same
    assert told(engine) == [(1, "t1", "4"), (2, "t1", "4")]
    assert [engine.counts()[number]["evaluations"] for number in (1, 2)] == [2, 2]
    assert [engine.counts()[number]["reevaluated"] for number in (1, 2)] == [1, 1]


def test_what_stands_below_the_floors_is_seen_by_no_rule() -> None:
    registry = Registry()
    opened, name = start(registry)
    drafts = [
        *[by_payee(function, "!=", "99") for function in ("MIN", "MAX", "SUM", "AVG")],
        by_payee("COUNT_DISTINCT", "!=", "99", field="beneficiaryId"),
    ]
    rules = tuple(registry.publish(number, each, 0, 0) for number, each in enumerate(drafts, 1))
    hour, floor = 3600, 3600 - 960
    amounts = [("3", -2), ("9", -1), ("5", 0), ("1", -3), ("0", -5), ("20", -4)]
    brought = [
        at(number, floor + seconds, amount, on_record=hour, backfill=name, beneficiaryId=number)
        for number, (amount, seconds) in enumerate(amounts, 20)
    ]
    oldest = at(1, floor + 60, "7", on_record=hour - 300)
    engine = judged((opened, *rules, T), T + 1000 * hour, *brought, oldest)
    values = {rule: value for rule, _, value in told(engine)}
    assert values == {1: "5", 2: "7", 3: "12", 4: "6", 5: "2"}


def test_the_least_of_a_window_is_found_whatever_is_put_among_what_is_too_old() -> None:
    registry = Registry()
    opened, name = start(registry)
    rule = registry.publish(1, by_payee("MIN", "!=", "99", seconds=3600), 0, 0)
    # the first keeps the next two in memory when they are too old; the fourth is the least that is not
    before = [
        at(1, 2000, payeeId=1),
        at(2, 0, "1", on_record=300),
        at(3, 10, "2", on_record=300),
        at(4, 2000, "5"),
    ]
    too_old = [at(5, 5, "0.5", 0, name), at(6, 15, "1.5", 0, name), at(7, 7, "3", 0, name)]
    engine = judged((opened, rule), *before, T + 4_520_000, *too_old, at(8, 3700, "9", on_record=4300))
    assert told(engine)[-1] == (1, "t8", "5")


def test_complete_from_makes_warm_what_the_first_tick_or_a_clear_left_out() -> None:
    registry = Registry()
    opened, name = start(registry)
    rules = tuple(registry.publish(number, by_payee("COUNT", ">=", "9"), 0, 0) for number in (1, 2))
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    ended = end(registry, name, T - 5 * MINUTE)
    pauses = tuple(registry.move("RulePaused", "PAUSED", number, T) for number in (1, 2))
    everything = registry.control("CLEAR_STATE_ALL", T)
    resume = registry.move("RuleResumed", "ACTIVE", 1, T)
    before = judged((opened, *rules), ended, T, pauses)
    assert [status["warmFrom"] for status in before.statuses()[2:]] == [T - 4 * MINUTE] * 2
    engine = judged((opened, *rules), T, clear, ended, (*pauses, everything, resume))
    warm = [status["warmFrom"] for status in engine.statuses()[2:]]
    assert warm == [T - 4 * MINUTE, T - 4 * MINUTE, T + 300_000 + MINUTE]
    # warm is never claimed for what is not kept
    long_after = judged((opened, *rules), T, T + 60 * MINUTE, ended, pauses)
    assert long_after.statuses()[2]["warmFrom"] == T + (60 - 16 + 1) * MINUTE


# --- what was written before there were such commands


def test_a_state_without_them_is_read_and_goes_on() -> None:
    registry, engine, fresh = Registry(), Engine(), Engine()
    rules = tuple(registry.publish(number, by_payee("COUNT", ">=", "2"), 0, 0) for number in (1, 2))
    before = batches_of(((*rules, T), at(1, 0)))
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    after = batches_of((void(registry, 1, 0), clear, (at(2, 1), at(3, 2))))
    assert fresh.run([*before, *after]) == fresh.alerts() != []
    engine.run(before)
    log = engine.logs[0]
    head, book = (json.loads(log.committed[name]) for name in ("head", "rules"))
    new = [head["visibility"].pop(name) for name in ("ruleFloors", "completeFrom")]
    new += [segments.pop("voided") for segments in head["segments"].values()]
    new += [book.pop("backfills")]
    new += [rule.pop("cleared") for rule in book["rules"]]
    new += [version.pop("forgotten") for rule in book["rules"] for version in rule["versions"]]
    nothing = {"before": 0, "groups": [], "apart": None}
    assert new == [[], None, [], [], [], [], None, None, nothing, nothing]
    for name, value in (("head", head), ("rules", book)):
        log.put(name, json.dumps(value).encode())
    log.commit()
    engine.forget()
    assert engine.run(after) == fresh.alerts()
