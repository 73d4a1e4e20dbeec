"""VOID_TRANSACTION: the transaction is in no window of any rule; its id and earlier alerts stay."""

from __future__ import annotations

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import Json
from tests.unit.engine.support.command_histories import (
    MINUTE,
    T,
    at,
    batches_of,
    by_payee,
    judged,
    told,
    void,
)
from tests.unit.engine.support.shard_harness import KEEPING_ALL, TRANSACTION, Engine


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
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    before = at(1, 0, "5", beneficiaryId=1), at(2, 1, "8"), at(3, 2, "2")
    after = at(4, 3, "5")
    engine = judged(rules, before, void(registry, 2, 1), after)
    values = ["12", "5", "2", "4", "3", "7", "7", "12", "2", "2", "1", "12"]
    assert sorted(told(engine)[-12:]) == [
        (rule, "t4", value) for rule, value in zip([n for n in range(1, 14) if n != 12], values, strict=True)
    ]
    of_all = next(alert for alert in reversed(engine.alerts()) if alert["ruleId"] == 8)
    listed = [transaction["transactionId"] for transaction in of_all["contributors"]["transactions"]]
    assert listed == ["t4", "t3", "t1"]


def test_its_id_stays_known_and_nothing_is_said_of_it_again() -> None:
    registry = Registry()
    rule = registry.publish(1, by_payee("COUNT", ">=", "2"), 0, 0)
    twin = payment(9, T + 500, more={"transactionId": "t1"})
    engine = judged(rule, at(1, 0), void(registry, 1, 0), twin, at(2, 1), at(3, 2))
    assert told(engine) == [(1, "t3", "2")]
    assert engine.counters["duplicates"] == 1
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
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
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
    assert [condition["value"] for condition in engine.alerts()[1]["conditions"]] == ["2", "2"]


def test_where_it_is_is_kept_while_it_is_retained() -> None:
    registry, engine = Registry(), Engine(event_type=KEEPING_ALL)
    rule = registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0)
    for micro_batch in batches_of(((rule, T), (at(1, 0), at(2, 1)), void(registry, 2, 1))):
        engine.take(micro_batch)
    assert engine.logs[0].committed["head"].count(b'"voided":[[1,') == 3
    engine.take(batch(ticks=[T + 60 * MINUTE]))
    assert engine.logs[0].committed["head"].count(b'"voided":[]') == len(TRANSACTION.all_anchors)
