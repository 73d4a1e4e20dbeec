"""Named lists and parameters as they stood when each transaction was accepted."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.shorthand import batch
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.named_values import (
    LARGE,
    WATCHED,
    Script,
    count,
    ids,
    json_object,
    rows,
    total,
)
from tests.unit.oracle.support.timeline import T, pay, play


def test_a_change_counts_for_what_is_accepted_after_it() -> None:
    script = Script()
    outcome = play(
        script.rule(count(only=WATCHED)),
        script.watch("25"),
        pay(1, 0),
        script.watch(),
        pay(2, 1),
        script.watch("25"),
        pay(3, 2),
    )
    # t2 did not pass when it was accepted, and so is in no window later on.
    assert rows(outcome, "value") == [("t1", "1"), ("t3", "2")]


def test_it_counts_for_its_own_micro_batch_and_by_position() -> None:
    script = Script()
    rule, first, second = script.rule(count(only=WATCHED)), script.watch("25"), script.watch()
    third = script.watch("25")
    assert ids(judge([batch(events=[rule, first], records=[pay(1, 0)])])) == ["t1"]
    assert ids(judge([batch(events=[second, rule, first], records=[pay(1, 0)])])) == []
    assert ids(judge([batch(events=[second, third, rule, first], records=[pay(1, 0)])])) == ["t1"]
    late = [batch(events=[rule, first, second]), batch(events=[first, first], records=[pay(1, 0)])]
    assert ids(judge(late)) == []


def test_version_is_not_looked_at() -> None:
    script = Script()
    first = script.watch()
    second = json.loads(script.watch("25"))
    events = [first, json.dumps({**second, "version": "none"}).encode(), script.rule(count(only=WATCHED))]
    assert ids(play(*events, pay(1, 0))) == ["t1"]


def test_a_rule_made_later_looks_at_the_lists_of_before() -> None:
    script = Script()
    outcome = play(
        script.watch("25"),
        pay(1, 0),
        script.watch("7"),
        pay(2, 1),
        pay(3, 2, payeeId=7),
        script.watch("25"),
        script.rule(count(only=WATCHED)),
        pay(4, 3),
    )
    assert rows(outcome, "value", "partial") == [("t1", "1", True), ("t3", "1", True), ("t4", "2", False)]
    assert outcome.counts == {1: Counts(evaluations=3)}


def test_it_is_so_without_catching_up_as_well() -> None:
    script = Script()
    outcome = play(
        script.watch("25"),
        pay(1, 0),
        script.watch(),
        pay(2, 1),
        script.rule(count(only=WATCHED), since=T + 2000),
        script.watch("25"),
        pay(3, 2),
    )
    assert rows(outcome, "value") == [("t3", "2")]


def test_for_a_next_version_too() -> None:
    script = Script()
    outcome = play(
        script.rule(count(99)),
        pay(1, 0),
        script.watch("25"),
        pay(2, 1),
        script.rule(count(only=WATCHED)),
        pay(3, 2),
    )
    assert rows(outcome, "value") == [("t3", "2")]


def test_what_did_not_pass_then_makes_nothing_late() -> None:
    script = Script()
    outcome = play(
        script.rule(count(only=WATCHED)),
        pay(1, 10),
        script.watch("25"),
        pay(2, 9, accepted=10),
        pay(3, 8, accepted=10),
    )
    assert rows(outcome, "late") == [("t2", None), ("t3", {"newestEventTime": T + 9000})]


def test_a_filter_with_a_parameter_as_it_stood() -> None:
    script = Script()
    outcome = play(
        script.most("10", "large"),
        pay(1, 0, "10"),
        script.most("20", "large"),
        pay(2, 1, "10"),
        script.rule(count(only=LARGE)),
        pay(3, 2, "19.999999"),
        pay(4, 3, "20"),
    )
    assert rows(outcome, "value") == [("t1", "1"), ("t4", "2")]


def test_a_limit_is_that_of_the_judged_one_s_acceptance() -> None:
    script = Script()
    outcome = play(
        script.rule(total()),
        script.most("10"),
        pay(1, 0, "6"),
        pay(2, 1, "6"),
        script.most("100"),
        pay(3, 2, "6"),
        script.most("17.5"),
        pay(4, 3, "0"),
    )
    assert rows(outcome, "value", "limit") == [("t2", "12", "10"), ("t4", "18", "17.5")]


def test_in_catch_up_too() -> None:
    script = Script()
    outcome = play(
        script.most("10"),
        pay(1, 0, "6"),
        pay(2, 1, "6"),
        script.most("100"),
        pay(3, 2, "6"),
        script.most("1"),
        script.rule(total()),
    )
    assert rows(outcome, "value", "limit") == [("t2", "12", "10")]


def test_when_judged_again_the_limit_is_that_of_the_first_time() -> None:
    script = Script()
    outcome = play(
        script.rule(total(late_events="reevaluate")),
        script.most("10"),
        pay(1, 10, "6"),
        script.most("1000"),
        pay(2, 11, "6"),
        script.most("5"),
        pay(3, 9, "5", accepted=11),
    )
    late: Json = {"transactionId": "t3", "eventTime": T + 9000}
    # t3 itself is not over 5, t1 with it is over its 10, t2 is not over its 1000.
    assert rows(outcome, "value", "limit", "late") == [("t1", "11", "10", late)]
    assert outcome.counts[1].reevaluated == 2


def test_judging_again_looks_at_the_lists_of_each_acceptance() -> None:
    script = Script()
    outcome = play(
        script.rule(count(2, only=WATCHED, late_events="reevaluate")),
        script.watch("25"),
        pay(1, 10),
        script.watch(),
        pay(2, 9, accepted=10),
        script.watch("25"),
        pay(3, 8, accepted=10),
    )
    # t2 did not pass and reopened nothing, and is in no window now.
    assert rows(outcome, "value") == [("t1", "2")]
    assert outcome.counts[1] == Counts(evaluations=2, late_evaluated=1, reevaluated=1)


def test_crossing_goes_by_the_limit_of_each() -> None:
    script = Script()
    outcome = play(
        script.rule(total(firing="crossing")),
        script.most("1"),
        pay(1, 0, "2"),
        pay(2, 1, "2"),
        script.most("100"),
        pay(3, 2, "2"),
        script.most("1"),
        pay(4, 3, "2"),
    )
    assert rows(outcome, "value") == [("t1", "2"), ("t4", "8")]


def test_in_the_conditions_of_a_chain() -> None:
    few, many = replace(total(), condition=WATCHED), count(1, parameter="many")
    what = chained(Branch("any", (few, many)))
    script = Script()
    outcome = play(
        script.rule(what),
        script.watch("25"),
        script.most("10"),
        pay(1, 0, "20"),
        script.most("30"),
        script.watch(),
        script.most("2", "many"),
        pay(2, 1, "20"),
        script.watch("25"),
        pay(3, 2, "5"),
    )
    conditions = [
        [
            (json_object(part)["value"], json_object(part)["limit"], json_object(part)["holds"])
            for part in parts
        ]
        for parts in (alert["conditions"] for alert in outcome.alerts)
        if isinstance(parts, list)
    ]
    assert ids(outcome) == ["t1", "t2", "t3"]
    assert conditions == [
        [("20", "10", True), ("1", None, False)],
        [("20", "30", False), ("2", "2", True)],
        [("25", "30", False), ("3", "2", True)],
    ]
