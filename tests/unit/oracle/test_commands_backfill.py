"""START_BACKFILL, END_BACKFILL and what comes between (decision 0039), each sentence by a case done by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import MicroBatch, Outcome, Record, judge
from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, batch, draft, one_by_one, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts

T = 472_223 * 3_600_000
# What is accepted is at most 20 seconds behind the clock.
SMALL = Settings(allowed_lateness=10_000, max_future_skew=300_000, max_disorder=10_000)
REGISTRY = Registry()
START, NAME = REGISTRY.start_backfill()
END = REGISTRY.end_backfill(NAME)


def ms(seconds: float) -> int:
    return T + round(1000 * seconds)


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, ms(seconds), amount, record_time=ms(later), more=dict(more))


def old(offset: int, seconds: float, accepted: float, name: str = NAME, **more: Json) -> Record:
    """A backfilled one."""
    return payment(offset, ms(seconds), record_time=ms(accepted), more=dict(more), backfill=name)


def steps(*parts: Part) -> Outcome:
    """Rule events, payments and ticks, in seconds after T."""
    return judge(one_by_one(T, *parts))


def each(by: tuple[str, ...] = ("payeeId",), **more: Any) -> Draft:
    """An alert for every payment, with how many there are in an hour."""
    return draft("COUNT", ">=", "1", by=by, seconds=3600, **more)


def values(outcome: Outcome) -> list[object]:
    return [alert["value"] for alert in outcome.alerts]


def rejects(outcome: Outcome) -> list[tuple[int, str]]:
    return [(reject.offset, reject.reason) for reject in outcome.rejects]


def warm_from(outcome: Outcome) -> list[object]:
    """Seconds after T of each status."""
    found = [status["warmFrom"] for status in outcome.statuses]
    return [None if since is None else (int(str(since)) - T) / 1000 for since in found]


RULE = Registry().publish(1, each(), 0, 0)


# --- what is let in


def test_let_in_whatever_its_age() -> None:
    before = at(1, 0, accepted=2000)
    outcome = steps(RULE, before, START, old(2, 0, 2000), at(3, 2000))
    assert (values(outcome), rejects(outcome), outcome.backfilled) == (["2"], [(1, "too_late")], 3)


def test_older_than_all_that_the_clock_lets_in() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(steps(*parts, at(1, 1000, accepted=1700))) == [(1, "too_late")]
    outcome = steps(*parts, old(1, 1000, 1700), at(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


def test_on_record_however_far_behind_the_clock() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(steps(*parts, at(1, 1650))) == [(1, "out_of_order")]
    outcome = steps(*parts, old(1, 1650, 1650), at(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


@pytest.mark.parametrize("what", ["COUNT", "COUNT_DISTINCT"])
def test_several_at_once_that_no_window_reaches(what: str) -> None:
    registry = Registry()
    rule = registry.publish(
        1, draft(what, ">=", "1", by=("payeeId",), seconds=3600, field="beneficiaryId"), 0, 0
    )
    start, name = registry.start_backfill()
    records = [*(old(offset, 0, 7200, name) for offset in (1, 2, 3)), at(4, 7200)]
    assert values(judge([batch(events=[rule, start], ticks=[ms(7200)], records=records)])) == ["1"]


def test_what_is_ahead_of_its_record_time_is_refused() -> None:
    assert rejects(steps(RULE, START, old(1, 300, 0), old(2, 300.001, 0))) == [(2, "future_event")]


def test_what_cannot_be_read_is_so_first() -> None:
    broken, huge = Record(0, 1, T, b"{", NAME), Record(0, 2, T, b" " * 65_537, NAME)
    for parts in ([START, broken, huge], [broken, huge]):
        assert rejects(steps(*parts)) == [(1, "unparseable"), (2, "oversized")]


def test_duplicates_are_duplicates() -> None:
    outcome = steps(
        RULE, START, at(1, 100), old(1, 100, 100), old(2, 50, 100), old(2, 50, 100), at(2, 100), at(3, 100)
    )
    # Of each the first counts, backfilled or not.
    assert (values(outcome), outcome.duplicates, outcome.backfilled) == (["1", "3"], 9, 3)
    # The rule counts the duplicate that is no backfilled one.
    assert outcome.counts == {1: Counts(evaluations=2, equal_times=1, duplicates=1)}


def test_on_some_anchors() -> None:
    outcome = steps(START, old(1, 0, 2000, payeeId=None), old(2, 0, 2000), old(2, 0, 2000, payeeId=7))
    # On two anchors, on three, and on that of the other payee.
    assert (outcome.backfilled, outcome.duplicates) == (6, 2)


# --- while it stands


CLOSED = [(9, "backfill_closed")]


def test_where_it_does_not_stand_it_is_refused() -> None:
    young, aged, early = (
        old(9, 2000, 2000),
        old(9, 0, 2000),
        replace(at(9, 3000), backfill=NAME, record_time=T),
    )
    for record in (young, aged, early):
        assert rejects(steps(RULE, record)) == CLOSED
        assert rejects(steps(RULE, START, END, record)) == CLOSED
        assert rejects(steps(RULE, START, replace(record, backfill="another"))) == CLOSED
        assert rejects(steps(RULE, START, replace(record, backfill=""))) == CLOSED


def test_rule_events_of_its_micro_batch_come_first() -> None:
    registry = Registry()
    start, name = registry.start_backfill()
    record = old(9, 0, 2000, name)
    opened = MicroBatch((start,), (), (record,))
    closed = MicroBatch((registry.end_backfill(name),), (), (replace(record, offset=10),))
    assert rejects(judge([opened, closed])) == [(10, "backfill_closed")]


def test_several_stand_at_once() -> None:
    registry = Registry()
    (one, first), (other, second) = registry.start_backfill(), registry.start_backfill()
    parts: list[Part] = [one, other, old(1, 0, 2000, first), registry.end_backfill(first)]
    assert rejects(steps(*parts, old(2, 0, 2000, second), old(9, 0, 2000, first))) == CLOSED


def test_ending_an_unknown_or_closed_one_does_nothing() -> None:
    other = Registry().end_backfill("another", T - 10**7)
    pause = Registry()
    pause.publish(1, each(), 0, 0)
    status = pause.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(RULE, 100, other, END, START, other, old(1, 0, 2000), status)
    assert (rejects(outcome), outcome.skipped_rule_events, warm_from(outcome)) == ([], 0, [None, 3700])


def test_a_clear_leaves_it_open() -> None:
    clear = Registry().control("CLEAR_STATE_ALL", 0)
    assert rejects(steps(START, clear, old(1, 0, 2000))) == []


# --- it triggers nothing


def test_no_evaluation_no_count_no_trace() -> None:
    registry = Registry()
    rule, trace = registry.publish(1, each(), 0, 0), registry.trace(1, 2**50, 0)
    outcome = steps(rule, trace, START, old(1, 2000, 2000), old(2, 2000, 2000, payeeId=None))
    assert (outcome.alerts, outcome.counts, outcome.null_groups, outcome.traces) == ([], {}, 0, [])
    # On three anchors, and on the two that it has a value for.
    assert outcome.backfilled == 5


def test_it_counts_in_windows_from_then_on() -> None:
    outcome = steps(
        RULE, START, at(1, 2000), old(2, 0, 2000), old(3, 2000, 2000), at(4, 2000), at(5, 3600.001)
    )
    # The one at 0 falls out in the end.
    assert values(outcome) == ["1", "4", "4"]
    contributors: Any = outcome.alerts[1]["contributors"]
    assert [other["transactionId"] for other in contributors["transactions"]] == ["t4", "t3", "t1", "t2"]


def test_it_is_the_newest() -> None:
    outcome = steps(RULE, START, old(1, 2000, 2000), at(2, 1999, accepted=2000), at(3, 2000))
    assert [alert["late"] for alert in outcome.alerts] == [{"newestEventTime": ms(2000)}, None]
    assert outcome.counts[1].equal_times == 1


def test_filters_and_groups_are_asked_as_ever() -> None:
    rule = Registry().publish(1, each(only={"field": "paymentType", "operator": "=", "value": "CRD"}), 0, 0)
    backfilled = [
        old(1, 0, 2000),
        old(2, 0, 2000, paymentType="CRD"),
        old(3, 0, 2000, payeeId=7, paymentType="CRD"),
    ]
    assert values(steps(rule, START, *backfilled, at(4, 2000, paymentType="CRD"))) == ["2"]


def test_in_each_condition_of_a_chained_rule() -> None:
    several = chained(Branch("any", (each(), each(by=("payeeId", "paymentType")))))
    rule = Registry().publish(1, several, 0, 0)
    outcome = steps(rule, START, old(1, 0, 2000, paymentType="CRD"), old(2, 0, 2000), at(3, 2000))
    conditions: Any = outcome.alerts[-1]["conditions"]
    assert [found["value"] for found in conditions] == ["3", "2"]


def test_it_is_never_caught_up_and_others_see_it() -> None:
    parts: list[Part] = [START, at(1, 1990), old(2, 0, 2000), old(3, 1995, 2000), at(4, 2000)]
    outcome = steps(*parts, Registry().publish(1, each(), 0, 0))
    assert [(alert["eventTime"], alert["value"]) for alert in outcome.alerts] == [
        (ms(1990), "1"),
        (ms(2000), "4"),
    ]


@pytest.mark.parametrize("live", [True, False])
def test_it_makes_nothing_be_judged_again(live: bool) -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    parts: list[Part] = [START, at(1, 2000), old(2, 1990, 2000)]
    outcome = steps(rule, *parts) if live else steps(*parts, rule)
    assert (outcome.alerts, outcome.counts[1].reevaluated) == ([], 0)


def test_it_is_not_judged_again_itself_and_counts_where_others_are() -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "3", by=("payeeId",), seconds=60, late_events="reevaluate")
    rule = registry.publish(1, what, 0, 0)
    outcome = steps(rule, START, at(1, 2000), old(2, 1990, 2000), at(3, 1995, accepted=2000))
    alerts = [(alert["eventTime"], alert["value"]) for alert in outcome.alerts]
    assert (alerts, outcome.counts[1].reevaluated) == ([(ms(2000), "3")], 1)


def test_after_a_reset_it_counts_like_any_that_is_accepted_later() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "2", by=("payeeId",), seconds=3600, reset=True), 0, 0)
    outcome = steps(rule, START, at(1, 1999), at(2, 2000), old(3, 0, 2000), at(4, 2001))
    assert [alert["eventTime"] for alert in outcome.alerts] == [ms(2000), ms(2001)]


def test_it_moves_no_crossing_and_no_cooldown() -> None:
    registry = Registry()
    what = draft("COUNT", ">=", "1", by=("payeeId",), seconds=10, firing="crossing")
    rules = [
        registry.publish(1, what, 0, 0),
        registry.publish(2, replace(what, firing="every", cooldown=10), 0, 0),
    ]
    outcome = steps(*rules, START, at(1, 1990), old(2, 1999, 2000), at(3, 2000.001))
    # Without an evaluation in between the record at 1990 is too old by then.
    assert [(alert["ruleId"], alert["value"]) for alert in outcome.alerts] == [
        (1, "1"),
        (2, "1"),
        (1, "2"),
        (2, "2"),
    ]


def test_what_stands_below_the_floor_is_taken_and_not_seen() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, each(), 0, 0)
    # What is kept is from 4000 - 20 - 3600 on.
    records = [old(1, 379.999, 4000), old(2, 380, 4000)]
    outcome = steps(
        small, rule, START, 4000, *records, at(3, 3979.999, accepted=3989), at(4, 3980, accepted=3990)
    )
    assert rejects(outcome) == [(3, "too_late")]
    assert (values(outcome), outcome.backfilled) == (["2"], 6)


def test_it_goes_into_its_bucket_where_that_is_kept() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, each(bucket=60), 0, 0)
    # The floor is 4000 - 20 - 3600 - 60, which is 320, rounded up: 360.
    records = [old(1, 359.999, 4000), old(2, 360, 4000), old(3, 3930, 4000)]
    (alert,) = steps(small, rule, START, 4000, *records, at(4, 3980, accepted=3990)).alerts
    contributors: Any = alert["contributors"]
    # The window begins at 380, so at 360; the second is merged at once, the third stands singly.
    assert (alert["value"], alert["precision"]) == ("3", {"bucketSeconds": 60, "atLeast": "2", "atMost": "3"})
    assert [other["transactionId"] for other in contributors["transactions"]] == ["t4", "t3"]


def test_below_the_beginning_of_the_buckets_it_is_not_seen() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, each(bucket=60), 0, 0)
    records = [old(1, 979.999, 1000), old(2, 980, 1000)]
    assert values(steps(small, START, 1000, rule, *records, at(3, 1000))) == ["2"]


def test_it_is_voided_like_any_other() -> None:
    assert values(steps(RULE, START, old(1, 0, 2000), Registry().void("t1", T), at(2, 2000))) == ["1"]


def test_its_place_in_the_order_is_that_of_its_record_time() -> None:
    registry = Registry()
    start, name = registry.start_backfill()
    rule = registry.publish(1, each(), 0, 0)
    before = replace(old(1, 0, 1999, name), partition=1)
    behind = replace(old(3, 0, 2001, name), partition=1)
    outcome = judge([MicroBatch((start, rule), (), (before, behind, at(2, 2000)))])
    assert values(outcome) == ["2"]


# --- completeFrom


def ended(since: float | None) -> bytes:
    return Registry().end_backfill(NAME, None if since is None else ms(since))


def paused() -> bytes:
    """Its status tells from when the rule is warm."""
    registry = Registry()
    registry.publish(1, each(), 0, 0)
    return registry.move("RulePaused", "PAUSED", 1, 0)


@pytest.mark.parametrize(("since", "warm"), [(None, 3700), (40, 3640), (-100, 3500), (200, 3700)])
def test_the_first_tick_counts_as_no_higher(since: float | None, warm: int) -> None:
    assert warm_from(steps(RULE, START, 100, ended(since), paused())) == [None, warm]


def test_an_alert_is_warm_by_it() -> None:
    for since, warm in ((40, [False, True]), (None, [False, False])):
        outcome = steps(RULE, START, 100, ended(since), at(1, 3639.999), at(2, 3640))
        assert [alert["warm"] for alert in outcome.alerts] == warm


def test_floors_stay() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, each(), 0, 0)
    outcome = steps(small, rule, START, 100, 4000, ended(-5000), paused())
    # What is kept is from 380 on.
    assert warm_from(outcome) == [None, 3980]
    later = registry.publish(1, each(bucket=60), 0, 0)
    assert warm_from(steps(small, later, START, 100, 4000, ended(-5000), paused())) == [None, 3960]


@pytest.mark.parametrize("command", [Registry().control("CLEAR_STATE_ALL", 0), Registry().clear_rule(1)])
def test_what_clears_have_raised_counts_as_no_higher(command: bytes) -> None:
    # 100, and 300 for what may be ahead.
    assert warm_from(steps(RULE, START, 100, command, paused())) == [None, 4000]
    assert warm_from(steps(RULE, START, 100, command, ended(150), paused())) == [None, 3750]
    assert warm_from(steps(RULE, START, 100, command, ended(50), paused())) == [None, 3650]


@pytest.mark.parametrize("command", [Registry().control("CLEAR_STATE_ALL", 0), Registry().clear_rule(1)])
def test_what_a_later_clear_raises_is_higher(command: bytes) -> None:
    assert warm_from(steps(RULE, START, 100, command, ended(50), command, paused())) == [None, 4000]


def test_a_first_tick_that_comes_later_counts_as_no_higher_either() -> None:
    assert warm_from(steps(RULE, START, ended(50), paused(), 100, paused())) == [None, None, 3650]


def test_the_lowest_of_several_counts() -> None:
    registry = Registry()
    starts = [registry.start_backfill() for _ in range(3)]
    ends = [
        registry.end_backfill(name, ms(since)) for (_, name), since in zip(starts, (70, 40, 60), strict=True)
    ]
    outcome = steps(RULE, *[start for start, _ in starts], 100, *ends, paused())
    assert warm_from(outcome) == [None, 3640]
