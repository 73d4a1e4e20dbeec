"""VOID_TRANSACTION (decision 0039), each sentence by a case small enough to do by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import MicroBatch, Outcome
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.hour_timeline import SMALL, T, ms, pay, play

CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def tally(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def rows(outcome: Outcome) -> list[tuple[object, object]]:
    """Rule and value of each alert."""
    return [(alert["ruleId"], alert["value"]) for alert in outcome.alerts]


def values(outcome: Outcome) -> list[object]:
    return [alert["value"] for alert in outcome.alerts]


def void(offset: int, seconds: float) -> bytes:
    """Of the payment of that offset and time."""
    return Registry().void(f"t{offset}", ms(seconds))


RULE = Registry().publish(1, tally(), 0, 0)


# --- as if it had not been


def test_it_is_in_no_window_and_not_the_newest() -> None:
    outcome = play(RULE, pay(1, 0), pay(2, 10), void(2, 10), pay(3, 5, accepted=10), pay(4, 10))
    assert [(alert["value"], alert["late"]) for alert in outcome.alerts] == [
        ("1", None),
        ("2", None),
        ("2", None),
        ("3", None),
    ]
    # Nor has anything its time.
    assert outcome.counts[1].equal_times == 0


def test_on_each_anchor_and_for_each_rule() -> None:
    registry = Registry()
    by = [("payeeId",), ("beneficiaryId",), (), ("beneficiaryId", "payeeId"), ("paymentType",)]
    rules = [registry.publish(number, tally(by=fields), 0, 0) for number, fields in enumerate(by, start=1)]
    several = chained(Branch("any", (tally(), tally(by=("payeeId", "paymentType")))))
    chain = registry.publish(9, several, 0, 0)
    outcome = play(*rules, chain, pay(1, 0), void(1, 0), pay(2, 1))
    assert rows(outcome)[6:11] == [(number, "1") for number in range(1, 6)]
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [condition["value"] for condition in conditions] == ["1", "1"]


def test_from_its_place_on() -> None:
    registry = Registry()
    rule, command = registry.publish(1, tally(), 0, 0), registry.void("t1", ms(0))
    before = MicroBatch((rule,), (), (pay(1, 0), pay(2, 1)))
    # Before the transactions of its micro-batch, and once.
    outcome = judge(
        [before, MicroBatch((command,), (), (pay(3, 2),)), MicroBatch((command,), (), (pay(4, 3),))]
    )
    assert values(outcome) == ["1", "2", "2", "3"]


def test_what_comes_after_the_command_is_not_meant() -> None:
    assert values(play(RULE, void(1, 0), pay(1, 0), pay(2, 1))) == ["1", "2"]
    registry = Registry()
    rule, command = registry.publish(1, tally(), 0, 0), registry.void("t1", ms(0))
    whole = MicroBatch((rule, command), (), (pay(1, 0), pay(2, 1)))
    assert values(judge([whole])) == ["1", "2"]


def test_its_id_stays_known() -> None:
    outcome = play(RULE, pay(1, 0), void(1, 0), pay(1, 0), pay(2, 1))
    assert (values(outcome), outcome.duplicates, outcome.counts[1].duplicates) == (["1", "1"], 3, 1)


@pytest.mark.parametrize(
    "command", [void(7, 0), void(1, 0.001), Registry().void("T1", T), Registry().void("t1 ", T), void(3, 2)]
)
def test_of_an_unknown_one_nothing_happens(command: bytes) -> None:
    rejected = pay(3, 2, accepted=2000)
    outcome = play(RULE, pay(1, 0), rejected, command, pay(2, 1))
    assert (values(outcome), outcome.skipped_rule_events) == (["1", "2"], 0)


def test_all_that_have_both() -> None:
    """For another payee it is no duplicate of the first; for the beneficiary it is."""
    registry = Registry()
    rules = [registry.publish(1, tally(), 0, 0), registry.publish(2, tally(by=("beneficiaryId",)), 0, 0)]
    parts: list[Part] = [*rules, pay(1, 0), pay(1, 0, payeeId=7), void(1, 0), pay(2, 1), pay(3, 1, payeeId=7)]
    assert rows(play(*parts)) == [(1, "1"), (2, "1"), (1, "1"), (1, "1"), (2, "1"), (1, "1"), (2, "2")]


def test_an_integer_id_is_named_by_its_text() -> None:
    command = Registry().void("17", T)
    assert values(play(RULE, pay(1, 0, transactionId=17), command, pay(2, 1))) == ["1", "1"]


def test_it_is_not_caught_up() -> None:
    registry = Registry()
    rule = registry.publish(1, tally(), 0, 0)
    outcome = play(pay(1, 0), pay(2, 1), pay(3, 2), void(2, 1), rule)
    assert [(alert["eventTime"], alert["value"]) for alert in outcome.alerts] == [(ms(0), "1"), (ms(2), "2")]


def test_it_is_not_judged_again() -> None:
    what = draft("COUNT", "=", "2", by=("payeeId",), seconds=60, late_events="reevaluate")
    parts: list[Part] = [Registry().publish(1, what, 0, 0), pay(1, 10)]
    late = pay(2, 5, accepted=10)
    outcome = play(*parts, late)
    assert (values(outcome), outcome.counts[1].reevaluated) == (["2"], 1)
    outcome = play(*parts, void(1, 10), late)
    assert (values(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_others_are_judged_again_without_it() -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "3", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    parts: list[Part] = [rule, pay(1, 8), pay(2, 10)]
    assert values(play(*parts, pay(3, 5, accepted=10))) == ["3"]
    outcome = play(*parts, void(1, 8), pay(3, 5, accepted=10))
    assert (values(outcome), outcome.counts[1].reevaluated) == ([], 1)


def test_that_it_was_late_reopens_nothing_when_it_is_voided() -> None:
    registry = Registry()
    what = draft("COUNT", "=", "1", by=("payeeId",), seconds=60, late_events="reevaluate")
    outcome = play(registry.publish(1, what, 0, 0), pay(1, 5), pay(2, 10), void(1, 5))
    # The second has one payment in its window now, and nobody looks.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(5)]


# --- what was done stays done


def test_an_alert_stands_and_its_evaluation_is_counted() -> None:
    outcome = play(RULE, pay(1, 0), void(1, 0))
    assert (values(outcome), outcome.counts[1].evaluations) == (["1"], 1)


def test_the_record_of_a_crossing_stays() -> None:
    rule = Registry().publish(1, tally(firing="crossing"), 0, 0)
    assert values(play(rule, pay(1, 0), void(1, 0), pay(2, 1))) == ["1"]


def test_a_cooldown_stays() -> None:
    rule = Registry().publish(1, tally(cooldown=60), 0, 0)
    assert values(play(rule, pay(1, 0), void(1, 0), pay(2, 59.999), pay(3, 60))) == ["1", "2"]


def test_a_reset_stays() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "2", by=("payeeId",), reset=True), 0, 0)
    outcome = play(rule, pay(1, 0), pay(2, 1), void(2, 1), pay(3, 2), pay(4, 3))
    # The second had reset; the first does not come back.
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(1), ms(3)]


# --- buckets


BUCKETS = tally(bucket=60)


@pytest.mark.parametrize(("clock", "value"), [(79.999, "1"), (80, "2")])
def test_in_its_bucket_it_stays(clock: float, value: str) -> None:
    registry = Registry()
    events = [registry.change_settings(SMALL, 0), registry.publish(1, BUCKETS, 0, 0)]
    outcome = play(*events, pay(1, 0), clock, void(1, 0), 200, pay(2, 201))
    # 20 s after its bucket's length it stands singly no more.
    assert values(outcome) == ["1", value]


def test_before_the_first_tick_it_goes() -> None:
    outcome = play(Registry().publish(1, BUCKETS, 0, 0), pay(1, 0), void(1, 0), 3700, pay(2, 3600))
    assert values(outcome) == ["1", "1"]


def test_for_an_exact_rule_and_one_of_longer_buckets_it_goes() -> None:
    registry = Registry()
    drafts = [BUCKETS, tally(), tally(bucket=61)]
    rules = [registry.publish(number, what, 0, 0) for number, what in enumerate(drafts, start=1)]
    outcome = play(registry.change_settings(SMALL, 0), *rules, pay(1, 0), 80, void(1, 0), pay(2, 81))
    assert rows(outcome)[3:] == [(1, "2"), (2, "1"), (3, "1")]


def test_of_a_chained_rule_it_stays_in_the_buckets_of_each_condition() -> None:
    registry = Registry()
    several = replace(chained(Branch("all", (tally(), tally(only=CASH)))), bucket=60)
    events = [registry.change_settings(SMALL, 0), registry.publish(1, several, 0, 0)]
    for clock, expected in ((79, ["1", "1"]), (80, ["2", "2"])):
        outcome = play(*events, pay(1, 0), clock, void(1, 0), pay(2, 81))
        conditions: Any = outcome.alerts[-1]["conditions"]
        assert [condition["value"] for condition in conditions] == expected


def test_new_buckets_begin_without_it() -> None:
    registry = Registry()
    small, exact = registry.change_settings(SMALL, 0), registry.publish(1, tally(), 0, 0)
    first, second = registry.publish(2, BUCKETS, 0, 0), registry.publish(3, tally(bucket=30), ms(81), 0)
    shared = registry.publish(4, BUCKETS, ms(81), 0)
    outcome = play(small, exact, first, pay(1, 0), 80, void(1, 0), second, shared, pay(2, 81))
    # It stays where it was merged, for those who share that; what is made of history now has never seen it.
    assert rows(outcome)[2:] == [(1, "1"), (2, "2"), (3, "1"), (4, "2")]


def test_in_catch_up_it_is_gone() -> None:
    """Catch-up looks at history, in which it is no more, and not into buckets."""
    registry = Registry()
    small, exact = registry.change_settings(SMALL, 0), registry.publish(1, tally(), 0, 0)
    first, second = registry.publish(2, BUCKETS, ms(50), 0), registry.publish(2, BUCKETS, 0, 0)
    outcome = play(small, exact, first, pay(1, 0), pay(2, 10), 80, void(1, 0), second, pay(3, 81))
    told_of = [(alert["ruleVersion"], alert["value"]) for alert in outcome.alerts if alert["ruleId"] == 2]
    assert told_of == [(2, "1"), (2, "3")]


def test_twice_is_once() -> None:
    """The first command settles what stays in buckets."""
    registry = Registry()
    events = [registry.change_settings(SMALL, 0), registry.publish(1, BUCKETS, 0, 0)]
    outcome = play(*events, pay(1, 0), void(1, 0), 80, void(1, 0), pay(2, 81))
    assert values(outcome) == ["1", "1"]
    outcome = play(*events, pay(1, 0), 80, void(1, 0), void(1, 0), pay(2, 81))
    assert values(outcome) == ["1", "2"]
