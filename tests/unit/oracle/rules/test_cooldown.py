"""cooldownSeconds, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft, definition_document
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.timeline import T, pay, play

MINUTE = 60_000


def count(limit: int = 1, cooldown: int | None = 10, **more: Any) -> Draft:
    """By payee, over a minute, with ten seconds of rest."""
    return draft("COUNT", ">=", str(limit), by=("payeeId",), seconds=60, cooldown=cooldown, **more)


def largest(cooldown: int | None = 10, **more: Any) -> Draft:
    """Alerts when the largest of the last five seconds is above 10."""
    return draft("MAX", ">", "10", by=("payeeId",), seconds=5, cooldown=cooldown, **more)


def alerting(what: Draft, *records: Record) -> list[str]:
    return rows(play(Registry().publish(1, what, 0, 0), *records))


def rows(outcome: Outcome) -> list[str]:
    """The transaction of each alert."""
    alert_rows: list[str] = []
    for alert in outcome.alerts:
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        alert_rows.append(str(transaction["transactionId"]))
    return alert_rows


# --- its form


def test_a_normalised_definition_has_it_only_where_there_is_one() -> None:
    assert definition_document(count())["cooldownSeconds"] == 10
    assert "cooldownSeconds" not in definition_document(count(cooldown=None))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (1, True),
        (400 * 86_400, True),
        (None, True),
        (0, False),
        (-1, False),
        (400 * 86_400 + 1, False),
        (True, False),
        ([], False),
        ("soon", False),
        ("", False),
    ],
)
def test_from_a_second_to_four_hundred_days_or_none(value: Json, read: bool) -> None:
    event = json.loads(Registry().publish(1, count(), 0, 0))
    event["definition"]["cooldownSeconds"] = value
    event["definitionHash"] = definition_hash(event["definition"])
    outcome = play(json.dumps(event).encode(), pay(1, 0), pay(2, 0.999))
    expected = (["t1", "t2"] if value is None else ["t1"]) if read else []
    assert (rows(outcome), outcome.skipped_rule_events) == (expected, 0 if read else 1)


@pytest.mark.parametrize("written", ["10.0", "1e1", "10.5"])
def test_a_number_with_a_fraction_or_an_exponent_is_none(written: str) -> None:
    event = Registry().publish(1, count(), 0, 0)
    wrong = event.replace(b'"cooldownSeconds": 10', f'"cooldownSeconds": {written}'.encode())
    assert wrong != event
    assert play(wrong, pay(1, 0)).skipped_rule_events == 1


def test_not_with_reevaluate() -> None:
    outcome = play(Registry().publish(1, count(late_events="reevaluate"), 0, 0), pay(1, 0))
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)
    outcome = play(Registry().publish(1, count(cooldown=None, late_events="reevaluate"), 0, 0), pay(1, 0))
    assert (rows(outcome), outcome.skipped_rule_events) == (["t1"], 0)


# --- its meaning


def test_from_the_alert_until_just_before_its_end() -> None:
    records = [pay(1, 0), pay(2, 0), pay(3, 5), pay(4, 9.999), pay(5, 10), pay(6, 10.001), pay(7, 20)]
    assert alerting(count(), *records) == ["t1", "t5", "t7"]
    assert alerting(count(cooldown=None), *records) == ["t1", "t2", "t3", "t4", "t5", "t6", "t7"]


def test_what_it_kept_back_does_not_lengthen_it() -> None:
    assert alerting(count(), *(pay(n, 4 * n) for n in range(7))) == ["t0", "t3", "t6"]


def test_an_evaluation_that_does_not_hold_begins_none() -> None:
    assert alerting(count(2), pay(1, 0), pay(2, 5), pay(3, 10), pay(4, 15)) == ["t2", "t4"]


def test_each_group_for_itself() -> None:
    records = [
        pay(1, 0),
        pay(2, 1, payeeId=7),
        pay(3, 2),
        pay(4, 10),
        pay(5, 10.5, payeeId=7),
        pay(6, 11, payeeId=7),
    ]
    assert alerting(count(), *records) == ["t1", "t2", "t4", "t6"]


def test_each_rule_for_itself() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.publish(2, count(cooldown=5), 0, 0)]
    outcome = play(*events, pay(1, 0), pay(2, 5), pay(3, 10))
    by_rule = [(alert["ruleId"], one) for alert, one in zip(outcome.alerts, rows(outcome), strict=True)]
    assert by_rule == [(1, "t1"), (2, "t1"), (2, "t2"), (1, "t3"), (2, "t3")]


def test_each_definition_version_for_itself() -> None:
    registry = Registry()
    rule = [registry.publish(1, count(), since, 0) for since in (0, T + 2000)]
    # Side by side: t4 is late, and in the cooldown of the first version alone.
    records = [pay(1, 0), pay(2, 2), pay(3, 3), pay(4, 1, accepted=3)]
    outcome = play(*rule, *records)
    assert rows(outcome) == ["t1", "t2"]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [1, 2]


def test_a_late_one_before_the_last_alert_alerts_and_leaves_it() -> None:
    # t2 is before 20; t3 at 25 is in the cooldown of t1, not in one of t2; so is t4, at 29.999.
    records = [pay(1, 20), pay(2, 19.999, accepted=20), pay(3, 25), pay(4, 29.999), pay(5, 30)]
    assert alerting(count(), *records) == ["t1", "t2", "t5"]


def test_late_ones_before_the_last_alert_have_no_cooldown_among_themselves() -> None:
    # The greatest event time is remembered and no other: t1 at 0 is forgotten with t2.
    records = [pay(1, 0), pay(2, 20), pay(3, 5, accepted=20), pay(4, 6, accepted=20), pay(5, 19, accepted=20)]
    assert alerting(count(), *records) == ["t1", "t2", "t3", "t4", "t5"]


def test_a_late_one_within_the_cooldown() -> None:
    # t2 does not hold; t3 is late for t2 and at 24 in the cooldown of t1, as t4 at 20 is.
    records = [
        pay(1, 20, "11"),
        pay(2, 28, "1"),
        pay(3, 24, "99", accepted=28),
        pay(4, 20, "99", accepted=28),
    ]
    assert alerting(largest(), *records) == ["t1"]
    assert alerting(largest(None), *records) == ["t1", "t3", "t4"]


def test_it_may_be_longer_than_the_window_however_long_the_group_is_silent() -> None:
    slow = draft("COUNT", ">=", "1", by=("payeeId",), seconds=1, cooldown=400 * 86_400)
    end = 400 * 86_400
    ticks = [T + 1000 * end - 1]
    assert rows(
        play(Registry().publish(1, slow, 0, 0), pay(1, 0), *ticks, pay(2, end - 0.001), pay(3, end))
    ) == [
        "t1",
        "t3",
    ]


# --- all else goes on


def test_an_evaluation_in_it_counts() -> None:
    rule = Registry().publish(1, count(), 0, 0)
    outcome = play(rule, pay(1, 5), pay(2, 5), pay(3, 4, accepted=5), pay(4, 6), pay(5, 5.5, accepted=6))
    assert rows(outcome) == ["t1", "t3"]
    assert outcome.counts == {1: Counts(evaluations=5, equal_times=1, late_evaluated=2)}


def test_a_crossing_that_falls_into_it_is_not_made_up_for() -> None:
    # t3 crosses at 6 s in the cooldown; t4 at 10 s holds on and does not cross; t6 does.
    what = largest(firing="crossing")
    records = [
        pay(1, 0, "11"),
        pay(2, 5.5, "1"),
        pay(3, 6, "11"),
        pay(4, 10, "11"),
        pay(5, 16, "1"),
        pay(6, 17, "11"),
    ]
    assert alerting(what, *records) == ["t1", "t6"]
    assert alerting(largest(None, firing="crossing"), *records) == ["t1", "t3", "t6"]
    assert alerting(largest(), *records) == ["t1", "t4"]


def test_under_crossing_the_record_is_replaced_in_it() -> None:
    # What does not hold in the cooldown ends the crossing: right after it the next one crosses.
    records = [pay(1, 0, "11"), pay(2, 9, "1"), pay(3, 10, "11")]
    assert alerting(largest(firing="crossing"), *records) == ["t1", "t3"]


def test_without_an_alert_there_is_no_reset() -> None:
    # Two at 1 s alert and reset. The next two are two at 3 s, in the cooldown: no reset, so at 11 s there are three.
    records = [pay(1, 0), pay(2, 1), pay(3, 2), pay(4, 3), pay(5, 11), pay(6, 12)]
    outcome = play(Registry().publish(1, count(2, reset=True), 0, 0), *records)
    assert [(one, alert["value"]) for one, alert in zip(rows(outcome), outcome.alerts, strict=True)] == [
        ("t2", "2"),
        ("t5", "3"),
    ]
    assert alerting(count(2, None, reset=True), *records) == ["t2", "t4", "t6"]


def test_with_stored_late_ones() -> None:
    records = [pay(1, 20), pay(2, 19, accepted=20), pay(3, 25), pay(4, 30)]
    outcome = play(Registry().publish(1, count(late_events="store"), 0, 0), *records)
    assert [(one, alert["value"]) for one, alert in zip(rows(outcome), outcome.alerts, strict=True)] == [
        ("t1", "1"),
        ("t4", "4"),
    ]
    assert outcome.counts[1] == Counts(evaluations=3, late_stored=1)


def test_with_distinct_values() -> None:
    what = draft("COUNT_DISTINCT", ">", "1", by=("payeeId",), seconds=60, field="beneficiaryId", cooldown=10)
    records = [pay(1, 0), pay(2, 1, beneficiaryId=13), pay(3, 10.999), pay(4, 11, beneficiaryId=None)]
    assert alerting(what, *records) == ["t2", "t4"]


def test_a_trace_says_that_it_held_and_did_not_alert() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.trace(1, T + 10**9, 0)]
    outcome = play(*events, pay(1, 0), pay(2, 5), pay(3, 10))
    assert [(trace["holds"], trace["alerted"]) for trace in outcome.traces] == [
        (True, True),
        (True, False),
        (True, True),
    ]


def test_catch_up_keeps_it_and_hands_it_on() -> None:
    rule = Registry().publish(1, count(), T, 0)
    outcome = play(pay(1, 0), pay(2, 9), pay(3, 12), rule, pay(4, 21.999), pay(5, 22))
    assert rows(outcome) == ["t1", "t3", "t5"]
    assert [alert["partial"] for alert in outcome.alerts] == [True, True, False]
    # A late one before the last alert of catch-up alerts there too.
    late = play(pay(1, 20), pay(2, 12, accepted=20), pay(3, 21), Registry().publish(1, count(), 0, 0))
    assert rows(late) == ["t1", "t2"]


def test_pause_and_resume_leave_it() -> None:
    registry = Registry()
    outcome = play(
        registry.publish(1, count(), 0, 0),
        pay(1, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        pay(2, 1),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        pay(3, 9.999),
        pay(4, 10),
    )
    assert rows(outcome) == ["t1", "t4"]


def test_a_new_definition_forgets_it() -> None:
    registry = Registry()
    first, second = registry.publish(1, count(), 0, 0), registry.publish(1, count(), 0, 0)
    assert rows(play(first, pay(1, 0), second, pay(2, 1), pay(3, 2))) == ["t1", "t2"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [("CLEAR_STATE_ALL", ["t1", "t2"]), ("CLEAR_STATE_ALL_STOP", ["t1"]), ("EXPORT_RULES_CURRENT", ["t1"])],
)
def test_a_clear_forgets_it_and_nothing_else_does(command: str, expected: list[str]) -> None:
    registry = Registry()
    rule, control = registry.publish(1, count(), 0, 0), registry.control(command, 0)
    assert rows(play(rule, pay(1, 0), control, pay(2, 1), pay(3, 2))) == expected
