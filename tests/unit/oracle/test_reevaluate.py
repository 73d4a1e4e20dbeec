"""Late ones under `reevaluate`, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.oracle import Outcome, Record, judge
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json, MicroBatch
from tests.oracle.values.rule_counts import Counts

T = 1_700_000_000_000
MINUTE = 60_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def again(function: str, operator: str, limit: str, late: str = "reevaluate", **more: Any) -> Draft:
    """By payee, over a minute."""
    return draft(function, operator, limit, by=("payeeId",), seconds=60, late_events=late, **more)


def judged(what: Draft, *records: Record) -> Outcome:
    return judge([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def steps(*parts: bytes | Record | int) -> Outcome:
    """Rule events, ticks and payments, each a micro-batch of its own."""
    batches: list[MicroBatch] = []
    for part in parts:
        if isinstance(part, bytes):
            batches.append(batch(events=[part]))
        else:
            batches.append(batch(ticks=[part]) if isinstance(part, int) else batch(records=[part]))
    return judge(batches)


def told(outcome: Outcome) -> list[tuple[object, object, object]]:
    """Of each alert its transaction, its value, and the late one if it comes from judging again."""
    found: list[tuple[object, object, object]] = []
    for alert in outcome.alerts:
        transaction, late = alert["transaction"], alert["late"]
        assert isinstance(transaction, dict)
        by = late.get("transactionId") if isinstance(late, dict) else None
        found.append((transaction["transactionId"], alert["value"], by))
    return found


# --- what is judged again


def test_a_late_one_brings_an_earlier_judgement_over_the_limit() -> None:
    records = [at(1, 10, "600"), at(2, 5, "500", accepted=10)]
    assert told(judged(again("SUM", ">", "1000"), *records)) == [("t1", "1100", "t2")]
    assert told(judged(again("SUM", ">", "1000", "evaluate"), *records)) == []
    assert told(judged(again("SUM", ">", "1000", "store"), *records)) == []


@pytest.mark.parametrize(
    ("function", "operator", "limit", "value"),
    [
        ("COUNT", ">=", "2", "2"),
        ("COUNT", "=", "2", "2"),
        ("MIN", "<", "4", "3"),
        ("MAX", ">", "4", "5"),
        ("AVG", "<", "4.5", "4"),
        ("SUM", "<=", "4", "4"),
        ("SUM", "!=", "5", "4"),
    ],
)
def test_by_every_kind_of_value(function: str, operator: str, limit: str, value: str) -> None:
    newer, late = {
        "COUNT": ("1", "1"),
        "MIN": ("4", "3"),
        "MAX": ("4", "5"),
        "AVG": ("5", "3"),
        "SUM": ("5", "-1"),
    }[function]
    # The late one itself alerts as well for some of them: before, and not from judging again.
    found = told(judged(again(function, operator, limit), at(1, 10, newer), at(2, 5, late, accepted=10)))
    assert found[-1] == ("t1", value, "t2")
    assert [by for *_, by in found[:-1]] == [None] * (len(found) - 1)


def test_values_are_counted_again_too() -> None:
    what = again("COUNT_DISTINCT", ">", "1", field="beneficiaryId")
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 4, accepted=10, beneficiaryId=13)]
    # The second has the same beneficiary. The third makes two of them: with the first, and with the second.
    assert told(judged(what, *records)) == [("t2", "2", "t3"), ("t1", "2", "t3")]


def test_newer_by_at_most_the_window_and_not_of_the_same_time() -> None:
    records = [at(1, 10), at(2, 70), at(3, 70.001), at(4, 200), at(5, 10, accepted=200)]
    outcome = judged(again("COUNT", "=", "2"), *records)
    # t2 and t3 had two and three from the start, t1 is of the time of t5, and t4 is out of its reach.
    assert told(outcome) == [("t2", "2", None), ("t3", "2", None), ("t5", "2", None)]
    assert outcome.counts[1].reevaluated == 0
    outcome = judged(again("COUNT", "=", "3"), *records)
    # Without alerts so far, t2 has t5 on the edge of its window; t3 is a millisecond beyond it.
    assert told(outcome) == [("t2", "3", "t5")]
    assert outcome.counts[1].reevaluated == 1


def test_by_event_time_then_by_acceptance() -> None:
    records = [at(1, 30), at(2, 20, accepted=30), at(3, 30), at(4, 25, accepted=30), at(5, 10, accepted=30)]
    found = told(judged(again("COUNT", ">=", "1"), *records))
    assert found == [
        ("t1", "1", None),
        ("t2", "1", None),
        ("t3", "3", None),
        ("t4", "2", None),
        ("t5", "1", None),
    ]
    largest = again("MAX", ">", "10")
    found = told(judged(largest, *records[:4], at(5, 10, "99", accepted=30)))
    assert found == [
        ("t5", "99", None),
        ("t2", "99", "t5"),
        ("t4", "99", "t5"),
        ("t1", "99", "t5"),
        ("t3", "99", "t5"),
    ]


def test_over_all_accepted_so_far_what_came_after_it_at_the_same_time_included() -> None:
    # t2 is not late, so that t1 is not judged again for it; for t3 both are, over all three.
    records = [at(1, 10), at(2, 10), at(3, 5, accepted=10)]
    outcome = judged(again("COUNT", ">=", "3"), *records)
    assert told(outcome) == [("t1", "3", "t3"), ("t2", "3", "t3")]
    assert outcome.counts[1].reevaluated == 2


def test_in_its_own_window() -> None:
    # t1 at 10 s has nothing of what came after that time, t3 no longer what came before 40 s.
    records = [at(1, 10, "1"), at(2, 35, "2"), at(3, 100, "4"), at(4, 5, "8", accepted=100)]
    outcome = judged(again("SUM", ">=", "9"), *records)
    assert told(outcome) == [("t1", "9", "t4"), ("t2", "11", "t4")]
    assert outcome.counts[1].reevaluated == 2


def test_in_its_group_alone_and_not_without_a_group() -> None:
    records = [at(1, 10), at(2, 11, payeeId=7), at(3, 5, accepted=11), at(4, 4, accepted=11, payeeId=None)]
    outcome = judged(again("COUNT", ">", "1"), *records)
    assert told(outcome) == [("t1", "2", "t3")]
    assert outcome.counts[1].reevaluated == 1


def test_only_what_passes_the_filter_and_for_what_passes_it() -> None:
    what = again("COUNT", ">", "1", only=CASH)
    card: Json = "CRD"
    outcome = judged(what, at(1, 10), at(2, 5, accepted=10, paymentType=card))
    assert (told(outcome), outcome.counts[1].reevaluated) == ([], 0)
    assert told(judged(what, at(1, 10, paymentType=card), at(2, 5, accepted=10))) == []
    assert told(judged(what, at(1, 10), at(2, 5, accepted=10))) == [("t1", "2", "t2")]


def test_a_duplicate_and_a_rejected_one_open_nothing() -> None:
    records = [at(1, 10), at(2, 5, accepted=10, transactionId="t1"), at(3, -600, accepted=10)]
    outcome = judged(again("COUNT", ">", "1"), *records)
    assert (outcome.alerts, outcome.counts[1].reevaluated, outcome.counts[1].duplicates) == ([], 0, 1)
    assert [reject.reason for reject in outcome.rejects] == ["too_late"]


def test_on_the_anchor_of_the_rule() -> None:
    # The repeated id has another payee: on that anchor it is new, on the global one a duplicate.
    registry = Registry()
    by_payee, by_none = again("COUNT", ">", "1"), draft("COUNT", ">", "2", by=(), late_events="reevaluate")
    events = [registry.publish(1, by_payee, 0, 0), registry.publish(2, by_none, 0, 0)]
    records = [at(1, 10), at(2, 10, payeeId=7), at(3, 5, accepted=10, payeeId=7, transactionId="t1")]
    outcome = judge([batch(events=events, records=records)])
    assert told(outcome) == [("t2", "2", "t1")]
    assert {rule: counts.reevaluated for rule, counts in outcome.counts.items()} == {1: 1, 2: 0}


def test_what_is_not_on_the_anchor_does_not_open_again_what_the_last_one_there_did() -> None:
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 5, accepted=10, transactionId="t2")]
    outcome = judged(again("COUNT", ">", "9"), *records, at(4, 5, accepted=10, payeeId=None))
    assert (outcome.counts[1].reevaluated, outcome.counts[1].duplicates) == (1, 1)
    assert outcome.counts[1].null_groups == 1


# --- whatever version is in force for the late one


def test_before_the_version_begins() -> None:
    what = Registry().publish(1, again("COUNT", ">", "1"), T + 8000, 0)
    outcome = steps(what, at(1, 10), at(2, 5, accepted=10))
    assert told(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=1, reevaluated=1)


def test_by_the_version_that_judged_it_and_by_no_other() -> None:
    registry = Registry()
    first, second = again("COUNT", ">", "1"), again("COUNT", ">=", "1", "store")
    events = [registry.publish(1, first, 0, 0), registry.publish(1, second, T + 20_000, 0)]
    outcome = steps(*events, at(1, 10), at(2, 20), at(3, 5, accepted=20))
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [2, 1]
    assert told(outcome) == [("t2", "2", None), ("t1", "2", "t3")]
    # The other way round: in force for the late one is a version that only stores it.
    registry = Registry()
    events = [registry.publish(1, second, 0, 0), registry.publish(1, first, T + 20_000, 0)]
    outcome = steps(*events, at(1, 10), at(2, 20, payeeId=7), at(3, 5, accepted=20, payeeId=7))
    assert told(outcome) == [("t1", "1", None), ("t2", "2", "t3")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [1, 2]
    assert (outcome.counts[1].late_stored, outcome.counts[1].reevaluated) == (1, 1)


def test_two_versions_side_by_side_by_event_time() -> None:
    registry = Registry()
    events = [registry.publish(1, again("MAX", ">", "10"), since, 0) for since in (0, T + 20_000)]
    records = [at(1, 30), at(2, 19, accepted=30), at(3, 20, accepted=30), at(4, 5, "99", accepted=30)]
    outcome = steps(*events, *records)
    assert told(outcome) == [("t4", "99", None), ("t2", "99", "t4"), ("t3", "99", "t4"), ("t1", "99", "t4")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [1, 1, 2, 2]


def test_by_event_time_where_the_lower_version_has_judged_the_newer() -> None:
    registry = Registry()
    rule = [registry.publish(1, again("MAX", ">", "10"), since, 0) for since in (T + 20_000, 0)]
    outcome = steps(rule[0], at(1, 30), rule[1], at(2, 19, accepted=30), at(3, 5, "99", accepted=30))
    assert told(outcome) == [("t3", "99", None), ("t2", "99", "t3"), ("t1", "99", "t3")]
    assert [alert["ruleVersion"] for alert in outcome.alerts] == [2, 2, 1]


def test_a_superseded_version_goes_on_until_it_has_left() -> None:
    # The second begins for good before all there is; the first has judged t1 and stays 15 min after that begin.
    for tick, expected in ((T + 15 * MINUTE, [("t1", "2", "t2")]), (T + 15 * MINUTE + 1, [])):
        registry = Registry()
        what = again("COUNT", ">", "1")
        other = draft("COUNT", ">", "9", by=("payeeId",), seconds=60)
        outcome = steps(
            registry.publish(1, what, 0, 0),
            at(1, 905),
            registry.publish(1, other, T, 0),
            tick,
            at(2, 904, accepted=905),
        )
        assert told(outcome) == expected


# --- what has been judged by it


def test_what_came_in_a_pause_was_not_judged() -> None:
    registry = Registry()
    outcome = steps(
        registry.publish(1, again("COUNT", ">", "2"), 0, 0),
        at(1, 10),
        registry.move("RulePaused", "PAUSED", 1, 0),
        at(2, 11),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        at(3, 5, accepted=11),
        at(4, 4, accepted=11),
    )
    # t1 is judged for both late ones, t3 for the second; t2 for neither, though it counts.
    assert told(outcome) == [("t1", "3", "t4")]
    assert outcome.counts[1] == Counts(evaluations=3, late_evaluated=2, reevaluated=3)


def test_a_paused_rule_and_a_deleted_one_judge_nothing_again() -> None:
    for kind, state in (("RulePaused", "PAUSED"), ("RuleDeleted", "DELETED")):
        registry = Registry()
        rule = registry.publish(1, again("COUNT", ">", "1"), 0, 0)
        outcome = steps(rule, at(1, 10), registry.move(kind, state, 1, 0), at(2, 5, accepted=10))
        assert (told(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_after_a_pause_it_goes_on_over_what_came_in_it() -> None:
    registry = Registry()
    outcome = steps(
        registry.publish(1, again("COUNT", ">", "2"), 0, 0),
        at(1, 10),
        registry.move("RulePaused", "PAUSED", 1, 0),
        at(2, 5, accepted=10),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        at(3, 4, accepted=10),
    )
    assert told(outcome) == [("t1", "3", "t3")]


def test_a_clear_leaves_nothing_to_be_judged_again() -> None:
    registry = Registry()
    rule = registry.publish(1, again("COUNT", ">", "0"), T + 8000, 0)
    outcome = steps(rule, at(1, 10), registry.control("CLEAR_STATE_ALL", 0), at(2, 5, accepted=10), at(3, 9))
    assert told(outcome) == [("t1", "1", None), ("t3", "2", None)]
    registry = Registry()
    rule = registry.publish(1, again("COUNT", ">", "1"), 0, 0)
    outcome = steps(rule, at(1, 10), registry.control("CLEAR_STATE_ALL", 0), at(2, 5, accepted=10))
    assert (told(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_a_clear_forgets_what_has_been_judged() -> None:
    # t2 comes in a pause, and has the place that t1 had before the clear.
    registry = Registry()
    outcome = steps(
        registry.publish(1, again("COUNT", ">", "1"), 0, 0),
        at(1, 10),
        registry.control("CLEAR_STATE_ALL", 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        at(2, 11),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        at(3, 5, accepted=11),
    )
    assert (told(outcome), outcome.counts[1].reevaluated) == ([], 0)


def test_a_late_one_that_was_judged_is_judged_again_too() -> None:
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 4, accepted=10)]
    outcome = judged(again("COUNT", ">", "1"), *records)
    assert told(outcome) == [("t1", "2", "t2"), ("t2", "2", "t3")]
    assert outcome.counts[1].reevaluated == 2


# --- once


def test_what_has_alerted_is_left_alone() -> None:
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 4, accepted=10)]
    outcome = judged(again("COUNT", ">=", "1"), *records)
    assert told(outcome) == [("t1", "1", None), ("t2", "1", None), ("t3", "1", None)]
    assert outcome.counts[1].reevaluated == 0


def test_what_has_not_is_judged_again_every_time() -> None:
    records = [at(1, 10), *(at(n, 10 - n, accepted=10) for n in range(2, 6))]
    outcome = judged(again("COUNT", "=", "4"), *records)
    # 1 for t2, 2 for t3, 3 for t4, of which t1 alerts; 3 for t5, of which t2 alerts.
    assert told(outcome) == [("t1", "4", "t4"), ("t2", "4", "t5")]
    assert outcome.counts[1].reevaluated == 9


def test_an_alert_that_was_given_stands() -> None:
    # After the late one the smallest is 1, and there is no second alert when a later one is above again.
    outcome = judged(again("MIN", ">", "5"), at(1, 10, "6"), at(2, 5, "1", accepted=10), at(3, 11, "9"))
    assert told(outcome) == [("t1", "6", None)]


# --- the alert


def test_the_alert_whole() -> None:
    what = again("SUM", ">", "1000", only=CASH)
    newer = at(1, 10, "600", ingestionTimestamp=T + 3)
    outcome = judged(what, newer, at(2, 5, "500.50", accepted=12))
    (alert,) = outcome.alerts
    del alert["alertId"], alert["definitionHash"]
    assert alert == {
        "ruleId": 1,
        "ruleVersion": 1,
        "ruleName": "rule 1 as of 1",
        "group": {"payeeId": "25"},
        "transaction": {
            "transactionId": "t1",
            "eventTime": T + 10_000,
            "payeeId": "25",
            "paymentAmount": "600",
            "paymentType": "CSH",
        },
        "partial": True,
        "value": "1100.5",
        "operator": ">",
        "limit": "1000",
        "windowStart": T - 50_000,
        "windowEnd": T + 10_000,
        "contributors": {
            "count": 2,
            "transactions": [
                {"transactionId": "t1", "eventTime": T + 10_000, "value": "600"},
                {"transactionId": "t2", "eventTime": T + 5000, "value": "500.5"},
            ],
            "truncated": False,
        },
        "late": {"transactionId": "t2", "eventTime": T + 5000},
        "warm": False,
        "mode": "live",
        "eventTime": T + 10_000,
        "ingestedAt": None,
    }


def test_its_id_is_that_of_the_transaction_s_alert() -> None:
    (alert,) = judged(again("COUNT", ">", "1"), at(1, 10), at(2, 5, accepted=10)).alerts
    in_order = judged(again("COUNT", ">", "1"), at(2, 5), at(1, 10)).alerts
    assert [alert["alertId"]] == [other["alertId"] for other in in_order]


def test_contributors_of_equal_times_the_last_accepted_first() -> None:
    records = [at(1, 10), at(2, 10), at(3, 5, accepted=10), at(4, 5, accepted=10)]
    first = judged(again("COUNT", ">=", "4"), *records).alerts[0]
    contributors = first["contributors"]
    assert isinstance(contributors, dict)
    ids = [one["transactionId"] for one in contributors["transactions"]]  # type: ignore[index,union-attr,call-overload]
    assert ids == ["t2", "t1", "t4", "t3"]


@pytest.mark.parametrize(("seconds", "warm"), [(69.999, False), (70, True)])
def test_warm_as_of_now(seconds: float, warm: bool) -> None:
    # Judged first before any tick, again when the first tick has said 10.
    rule = Registry().publish(1, again("COUNT", ">", "1"), 0, 0)
    outcome = steps(rule, at(1, seconds), T + 10_000, at(2, 60, accepted=70))
    assert [(alert["eventTime"], alert["warm"]) for alert in outcome.alerts] == [
        (T + int(1000 * seconds), warm)
    ]


def test_it_follows_the_alert_of_the_late_one_by_the_same_rule() -> None:
    registry = Registry()
    events = [registry.publish(rule, again("MAX", ">", "10"), 0, 0) for rule in (1, 2)]
    outcome = steps(*events, at(1, 10), at(2, 5, "99", accepted=10))
    assert [(alert["ruleId"], one) for alert, one in zip(outcome.alerts, told(outcome), strict=True)] == [
        (1, ("t2", "99", None)),
        (1, ("t1", "99", "t2")),
        (2, ("t2", "99", None)),
        (2, ("t1", "99", "t2")),
    ]
    assert [alert["late"] for alert in outcome.alerts[:2]] == [
        {"newestEventTime": T + 10_000},
        {"transactionId": "t2", "eventTime": T + 5000},
    ]


# --- in catch-up


def test_in_catch_up_as_if_live() -> None:
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 11), at(4, 4, accepted=11)]
    live = judged(again("COUNT", ">", "1"), *records)
    caught_up = steps(*records, Registry().publish(1, again("COUNT", ">", "1"), 0, 0))
    expected = [("t1", "2", "t2"), ("t3", "3", None), ("t2", "2", "t4")]
    assert told(live) == expected
    assert told(caught_up) == expected
    assert live.counts == caught_up.counts == {1: Counts(evaluations=4, late_evaluated=2, reevaluated=2)}


def test_for_late_ones_that_are_not_caught_up_themselves() -> None:
    records = [at(1, 10), at(2, 5, accepted=10)]
    outcome = steps(*records, Registry().publish(1, again("COUNT", ">", "1"), T + 10_000, 0))
    assert told(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=1, reevaluated=1)


def test_for_late_ones_that_another_version_has_judged() -> None:
    registry = Registry()
    outcome = steps(
        registry.publish(1, again("COUNT", ">", "9"), T + 8000, 0),
        at(1, 7),
        at(2, 9, payeeId=7),
        at(3, 8, payeeId=7, accepted=9),
        at(4, 6, accepted=9),
        registry.publish(1, again("COUNT", ">", "1"), 0, 0),
    )
    # t1 and t4 are caught up; t2 and t3 were judged by the first version, which goes on with them.
    assert told(outcome) == [("t1", "2", "t4")]
    assert outcome.counts[1] == Counts(evaluations=4, late_evaluated=2, reevaluated=2)


def test_each_late_one_over_what_was_accepted_before_it() -> None:
    records = [at(1, 10), at(2, 5, accepted=10), at(3, 4, accepted=10)]
    outcome = steps(*records, Registry().publish(1, again("COUNT", ">=", "2"), T + 10_000, 0))
    assert told(outcome) == [("t1", "2", "t2")]


def test_what_was_caught_up_is_judged_again_for_late_ones_that_come_live() -> None:
    outcome = steps(
        at(1, 10), Registry().publish(1, again("COUNT", ">", "1"), T + 10_000, 0), at(2, 5, accepted=10)
    )
    assert told(outcome) == [("t1", "2", "t2")]


def test_an_invisible_late_one_comes_into_no_window() -> None:
    # The floor is at 5 s when the version is taken: t2 lies on it, t3 below.
    slack = 15 * MINUTE
    outcome = steps(
        T,
        at(1, 10),
        at(2, 5, accepted=10),
        at(3, 4.999, accepted=10),
        T + slack + 5000,
        Registry().publish(1, again("COUNT", ">", "1"), 0, 0),
    )
    assert told(outcome) == [("t1", "2", "t2")]
    assert outcome.counts[1] == Counts(evaluations=2, late_evaluated=1, reevaluated=1)


def test_a_version_taken_in_a_pause_has_judged_nothing() -> None:
    registry = Registry()
    outcome = steps(
        at(1, 10),
        registry.publish(1, again("COUNT", ">", "1"), 0, 0, paused=True),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
        at(2, 5, accepted=10),
    )
    assert (told(outcome), outcome.counts[1].reevaluated) == ([], 0)


# --- counted, not traced, refused


def test_judging_again_counts_as_nothing_else_and_is_not_traced() -> None:
    registry = Registry()
    events = [registry.publish(1, again("COUNT", ">", "1"), 0, 0), registry.trace(1, T + 10**9, 0)]
    records = [at(1, 10), at(2, 10), at(3, 5, accepted=10)]
    outcome = judge([batch(events=events, records=records)])
    assert told(outcome) == [("t2", "2", None), ("t1", "3", "t3")]
    assert outcome.counts == {1: Counts(evaluations=3, equal_times=1, late_evaluated=1, reevaluated=1)}
    assert [(trace["transactionId"], trace["late"], trace["alerted"]) for trace in outcome.traces] == [
        ("t1", False, False),
        ("t2", False, True),
        ("t3", True, False),
    ]


@pytest.mark.parametrize(
    ("more", "skipped"),
    [
        ({"resetOnAlert": True}, 1),
        ({"firing": "crossing"}, 1),
        ({"resetOnAlert": False, "firing": "every", "filter": None}, 0),
    ],
)
def test_not_with_firing_state(more: dict[str, Json], skipped: int) -> None:
    event = json.loads(Registry().publish(1, again("COUNT", ">=", "1"), 0, 0))
    event["definition"].update(more)
    event["definitionHash"] = definition_hash(event["definition"])
    outcome = steps(json.dumps(event).encode(), at(1, 0))
    assert (len(outcome.alerts), outcome.skipped_rule_events) == (1 - skipped, skipped)


def test_an_unclear_definition_takes_its_position() -> None:
    registry = Registry()
    wrong = json.loads(registry.publish(1, again("COUNT", ">=", "1"), 0, 0))
    wrong["definition"]["resetOnAlert"] = True
    same_position = {**json.loads(Registry().publish(2, again("COUNT", ">=", "1"), 0, 0)), "position": 1}
    outcome = steps(json.dumps(wrong).encode(), json.dumps(same_position).encode(), at(1, 0))
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)


# --- the specification's example


def moment(clock: str) -> int:
    return int(datetime.fromisoformat(f"2026-01-05T{clock}").replace(tzinfo=UTC).timestamp()) * 1000


def test_the_worked_example() -> None:
    late = moment("12:15:00")
    records = [
        payment(1, moment("12:00:00"), "600"),
        payment(2, moment("12:10:00"), "400"),
        payment(3, moment("12:20:00"), "0.01"),
        payment(4, moment("12:20:01"), "1"),
        payment(5, late, "500", record_time=moment("12:20:01")),
        payment(6, moment("12:20:02"), "9999", more={"beneficiaryId": 99}),
    ]
    outcome = judged(draft(late_events="reevaluate"), *records)
    # #3 is already alerted, #4 is judged again and not over.
    assert told(outcome) == [("t3", "1000.01", None), ("t5", "1500", None), ("t6", "9999", None)]
    assert outcome.counts == {1: Counts(evaluations=6, late_evaluated=1, reevaluated=1)}
    # With the limit at 900 #2 and #3 are alerted before; #4 is over with 901.01.
    outcome = judged(draft(limit="900", late_events="reevaluate"), *records)
    assert told(outcome)[2:4] == [("t5", "1500", None), ("t4", "901.01", "t5")]
    assert outcome.alerts[3]["late"] == {"transactionId": "t5", "eventTime": late}
