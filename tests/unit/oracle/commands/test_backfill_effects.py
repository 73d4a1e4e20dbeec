"""Backfilled transactions trigger nothing and count from then on (decision 0039)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import MicroBatch
from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.backfills import RULE, START, refill, rejects, tally, values
from tests.unit.oracle.support.hour_timeline import SMALL, T, ms, pay, play


def test_no_evaluation_no_count_no_trace() -> None:
    registry = Registry()
    rule, trace = registry.publish(1, tally(), 0, 0), registry.trace(1, 2**50, 0)
    outcome = play(rule, trace, START, refill(1, 2000, 2000), refill(2, 2000, 2000, payeeId=None))
    assert (outcome.alerts, outcome.counts, outcome.null_groups, outcome.traces) == ([], {}, 0, [])
    # On three anchors, and on the two that it has a value for.
    assert outcome.backfilled == 5


def test_it_counts_in_windows_from_then_on() -> None:
    outcome = play(
        RULE, START, pay(1, 2000), refill(2, 0, 2000), refill(3, 2000, 2000), pay(4, 2000), pay(5, 3600.001)
    )
    # The one at 0 falls out in the end.
    assert values(outcome) == ["1", "4", "4"]
    contributors: Any = outcome.alerts[1]["contributors"]
    assert [other["transactionId"] for other in contributors["transactions"]] == ["t4", "t3", "t1", "t2"]


def test_it_is_the_newest() -> None:
    outcome = play(RULE, START, refill(1, 2000, 2000), pay(2, 1999, accepted=2000), pay(3, 2000))
    assert [alert["late"] for alert in outcome.alerts] == [{"newestEventTime": ms(2000)}, None]
    assert outcome.counts[1].equal_times == 1


def test_filters_and_groups_are_asked_as_ever() -> None:
    rule = Registry().publish(1, tally(only={"field": "paymentType", "operator": "=", "value": "CRD"}), 0, 0)
    backfilled = [
        refill(1, 0, 2000),
        refill(2, 0, 2000, paymentType="CRD"),
        refill(3, 0, 2000, payeeId=7, paymentType="CRD"),
    ]
    assert values(play(rule, START, *backfilled, pay(4, 2000, paymentType="CRD"))) == ["2"]


def test_in_each_condition_of_a_chained_rule() -> None:
    several = chained(Branch("any", (tally(), tally(by=("payeeId", "paymentType")))))
    rule = Registry().publish(1, several, 0, 0)
    outcome = play(rule, START, refill(1, 0, 2000, paymentType="CRD"), refill(2, 0, 2000), pay(3, 2000))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [condition["value"] for condition in conditions] == ["3", "2"]


def test_it_is_never_caught_up_and_others_see_it() -> None:
    parts: list[Part] = [START, pay(1, 1990), refill(2, 0, 2000), refill(3, 1995, 2000), pay(4, 2000)]
    outcome = play(*parts, Registry().publish(1, tally(), 0, 0))
    assert [(alert["eventTime"], alert["value"]) for alert in outcome.alerts] == [
        (ms(1990), "1"),
        (ms(2000), "4"),
    ]


@pytest.mark.parametrize("live", [True, False])
def test_it_makes_nothing_be_judged_again(live: bool) -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    parts: list[Part] = [START, pay(1, 2000), refill(2, 1990, 2000)]
    outcome = play(rule, *parts) if live else play(*parts, rule)
    assert (outcome.alerts, outcome.counts[1].reevaluated) == ([], 0)


def test_it_is_not_judged_again_itself_and_counts_where_others_are() -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "3", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    outcome = play(rule, START, pay(1, 2000), refill(2, 1990, 2000), pay(3, 1995, accepted=2000))
    alerts = [(alert["eventTime"], alert["value"]) for alert in outcome.alerts]
    assert (alerts, outcome.counts[1].reevaluated) == ([(ms(2000), "3")], 1)


def test_after_a_reset_it_counts_like_any_that_is_accepted_later() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "2", by=("payeeId",), seconds=3600, reset=True), 0, 0)
    outcome = play(rule, START, pay(1, 1999), pay(2, 2000), refill(3, 0, 2000), pay(4, 2001))
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(2000), ms(2001)]


def test_it_moves_no_crossing_and_no_cooldown() -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "1", by=("payeeId",), seconds=10, firing="crossing")
    rules = [
        registry.publish(1, what, 0, 0),
        registry.publish(2, replace(what, firing="every", cooldown=10), 0, 0),
    ]
    outcome = play(*rules, START, pay(1, 1990), refill(2, 1999, 2000), pay(3, 2000.001))
    # Without an evaluation in between the record at 1990 is too old by then.
    assert [(alert["ruleId"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (2, "1"),
        (1, "2"),
        (2, "2"),
    ]


def test_what_stands_below_the_floor_is_taken_and_not_seen() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, tally(), 0, 0)
    # What is kept is from 4000 - 20 - 3600 on.
    records = [refill(1, 379.999, 4000), refill(2, 380, 4000)]
    outcome = play(
        small, rule, START, 4000, *records, pay(3, 3979.999, accepted=3989), pay(4, 3980, accepted=3990)
    )
    assert rejects(outcome) == [(3, "too_late")]
    assert (values(outcome), outcome.backfilled) == (["2"], 6)


def test_it_goes_into_its_bucket_where_that_is_kept() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, tally(bucket=60), 0, 0)
    # The floor is 4000 - 20 - 3600 - 60, which is 320, rounded up: 360.
    records = [refill(1, 359.999, 4000), refill(2, 360, 4000), refill(3, 3930, 4000)]
    (alert,) = play(small, rule, START, 4000, *records, pay(4, 3980, accepted=3990)).alerts
    contributors: Any = alert["contributors"]
    # The window begins at 380, so at 360; the second is merged at once, the third stands singly.
    assert (alert["value"], alert["precision"]) == ("3", {"bucketSeconds": 60, "atLeast": "2", "atMost": "3"})
    assert [other["transactionId"] for other in contributors["transactions"]] == ["t4", "t3"]


def test_below_the_beginning_of_the_buckets_it_is_not_seen() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, tally(bucket=60), 0, 0)
    records = [refill(1, 979.999, 1000), refill(2, 980, 1000)]
    assert values(play(small, START, 1000, rule, *records, pay(3, 1000))) == ["2"]


def test_it_is_voided_like_any_other() -> None:
    assert values(play(RULE, START, refill(1, 0, 2000), Registry().void("t1", T), pay(2, 2000))) == ["1"]


def test_its_place_in_the_order_is_that_of_its_record_time() -> None:
    registry = Registry()
    start, name = registry.start_backfill()
    rule = registry.publish(1, tally(), 0, 0)
    before = replace(refill(1, 0, 1999, name), partition=1)
    behind = replace(refill(3, 0, 2001, name), partition=1)
    outcome = judge([MicroBatch((start, rule), (), (before, behind, pay(2, 2000)))])
    assert values(outcome) == ["2"]
