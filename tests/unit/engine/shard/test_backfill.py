"""START_BACKFILL and END_BACKFILL: records are let in whatever their age, count, and trigger nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import payment
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
from tests.unit.engine.support.shard_harness import KEEPING_ALL, Engine


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
    engine = judged(T, old[0], together, (ended, at(7, 0, backfill=name)), event_type=KEEPING_ALL)
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
    steps = (first, second, T), closing, brought, rule, T + MINUTE, pause
    engine = judged(*steps, event_type=KEEPING_ALL)
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
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    traces = tuple(registry.trace(number, T + MINUTE, T) for number in range(1, 6))
    later = registry.publish(6, by_payee("COUNT", ">=", "1"), 0, 0)
    old = at(1, -30, on_record=0, backfill=name)
    nobody = payment(3, T - 30_000, record_time=T, more={"payeeId": None}, backfill=name)
    brought = (old, replace(old, offset=2), nobody)
    steps = (opened, *rules, *traces), brought, later, replace(old, offset=4)
    engine = judged(*steps, event_type=KEEPING_ALL)
    assert engine.alerts() == []
    assert engine.traces() == []
    assert engine.counts() == {}
    assert engine.counters["backfilled"] == 5
    assert engine.counters["duplicates"] == 6
    assert engine.counters["null_groups"] == 0
    by_rule = [engine.counters[f"rule_backfilled:{number}"] for number in range(1, 7)]
    assert by_rule == [1, 1, 1, 1, 0, 0]


def test_it_counts_in_windows_and_as_the_newest() -> None:
    registry = Registry()
    opened, name = start(registry)
    drafts = [
        *[by_payee(function, ">", "0") for function in ("SUM", "MAX", "MIN", "COUNT")],
        by_payee("COUNT_DISTINCT", ">", "0", field="beneficiaryId"),
        by_payee("SUM", ">", "10", reset=True),
    ]
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
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
    listed = [
        transaction["transactionId"] for transaction in engine.alerts()[6]["contributors"]["transactions"]
    ]
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
    rules = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
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


def in_order(*parts: Any) -> tuple[Any, ...]:
    """The same parts, their rule events numbered anew."""
    positions = count(1)

    def numbered(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(numbered(record) for record in part)
        if isinstance(part, bytes):
            return json.dumps({**json.loads(part), "position": next(positions)}).encode()
        return part

    return tuple(numbered(part) for part in parts)


def test_complete_from_makes_warm_what_the_first_tick_or_a_clear_left_out() -> None:
    registry = Registry()
    opened, name = start(registry)
    rules = tuple(registry.publish(number, by_payee("COUNT", ">=", "9"), 0, 0) for number in (1, 2))
    clear = registry.control("CLEAR_RULE", T, {"ruleId": 1})
    ended = end(registry, name, T - 5 * MINUTE)
    pauses = tuple(registry.move("RulePaused", "PAUSED", number, T) for number in (1, 2))
    everything = registry.control("CLEAR_STATE_ALL", T)
    resume = registry.move("RuleResumed", "ACTIVE", 1, T)
    before = judged(*in_order((opened, *rules), ended, T, pauses))
    assert [status["warmFrom"] for status in before.statuses()[2:]] == [T - 4 * MINUTE] * 2
    engine = judged(*in_order((opened, *rules), T, clear, ended, (*pauses, everything, resume)))
    warm = [status["warmFrom"] for status in engine.statuses()[2:]]
    assert warm == [T - 4 * MINUTE, T - 4 * MINUTE, T + 300_000 + MINUTE]
    # warm is never claimed for what is not kept
    long_after = judged(*in_order((opened, *rules), T, T + 60 * MINUTE, ended, pauses))
    assert long_after.statuses()[2]["warmFrom"] == T + (60 - 16 + 1) * MINUTE


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
    assert new == [[], None, [], [], [], [], [], None, None, nothing, nothing]
    for name, value in (("head", head), ("rules", book)):
        log.put(name, json.dumps(value).encode())
    log.commit()
    engine.forget()
    assert engine.run(after) == fresh.alerts()


def test_what_a_bucketed_rule_cannot_see_is_counted() -> None:
    registry = Registry()
    narrow = registry.publish(1, by_payee("COUNT", ">=", "1"), 0, 0)
    wide = registry.publish(2, by_payee("COUNT", ">=", "1", seconds=86_400, bucket=60), 0, 0)
    exact = registry.publish(3, by_payee("COUNT", ">=", "1", seconds=86_400), 0, 0)
    opened, name = start(registry)
    # an hour ago, a day and an hour ago: beyond every window
    old = tuple(at(number, -hours * 3600, on_record=0, backfill=name) for number, hours in enumerate((1, 25)))
    engine = judged(narrow, T, (wide, exact), opened, old, at(2, 1))
    assert told(engine)[-3:] == [(1, "t2", "1"), (2, "t2", "1"), (3, "t2", "2")]
    counts = [engine.counters[f"rule_backfilled_unseen:{number}"] for number in (1, 2, 3)]
    assert counts == [0, 1, 0]
