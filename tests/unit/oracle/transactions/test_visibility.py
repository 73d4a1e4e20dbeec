"""Floors only rise: what a narrower window has let go does not come back; warm says whether all is there."""

from __future__ import annotations

from functools import partial

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.oracle.support import agreement

T = 1_700_000_000_000
SLACK = 15 * 60_000
MINUTE = 60_000
# Catch-up has its own tests; here only what is judged as it comes.
judge = partial(agreement.judge, catch_up=False)


@pytest.mark.parametrize(("clock", "value"), [(T + SLACK + MINUTE, "2"), (T + SLACK + MINUTE + 1, "1")])
def test_a_widened_window_does_not_see_what_was_let_go(clock: int, value: str) -> None:
    registry = Registry()
    narrow = registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, 0)
    wide = registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
    outcome = judge(
        [
            batch(events=[narrow], records=[payment(1, T)]),
            batch(ticks=[clock]),
            batch(events=[wide], records=[payment(2, clock)]),
        ]
    )
    assert [alert["value"] for alert in outcome.alerts] == ["1", value]


def test_another_rule_keeps_history_only_for_its_own_fields() -> None:
    registry = Registry()
    keeper = registry.publish(1, draft("COUNT", ">", "99", by=("payeeId",), seconds=7200), 0, 0)
    clock = T + 2 * SLACK
    same_fields = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
    more_fields = registry.publish(3, draft("SUM", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
    outcome = judge(
        [
            batch(events=[keeper], ticks=[T], records=[payment(1, T)]),
            batch(ticks=[clock]),
            batch(events=[same_fields, more_fields], records=[payment(2, clock)]),
        ]
    )
    assert [(alert["ruleId"], alert["value"]) for alert in outcome.alerts] == [(2, "2"), (3, "1")]


def test_a_deleted_rule_stops_counting_and_a_paused_one_does_not() -> None:
    for kind, state, value in (("RulePaused", "PAUSED", "2"), ("RuleDeleted", "DELETED", "1")):
        registry = Registry()
        keeper = registry.publish(1, draft("COUNT", ">", "99", by=("payeeId",), seconds=7200), 0, 0)
        gone = registry.move(kind, state, 1, 0)
        later = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
        clock = T + 2 * SLACK
        outcome = judge(
            [
                batch(events=[keeper], records=[payment(1, T)]),
                batch(events=[gone], ticks=[clock]),
                batch(events=[later], records=[payment(2, clock)]),
            ]
        )
        assert [alert["value"] for alert in outcome.alerts] == [value]


@pytest.mark.parametrize(("past", "value"), [(0, "2"), (1, "1")])
def test_a_superseded_window_counts_until_the_clock_passes_the_next(past: int, value: str) -> None:
    registry = Registry()
    since = T + 2 * SLACK
    wide = registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
    narrow = registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), since, 0)
    again = registry.publish(2, draft("COUNT", ">=", "1", by=("payeeId",), seconds=7200), 0, 0)
    clock = since + SLACK + past
    outcome = judge(
        [
            batch(events=[wide], records=[payment(1, T + SLACK)]),
            batch(events=[narrow], ticks=[clock]),
            batch(events=[again], records=[payment(2, clock)]),
        ]
    )
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 2] == [value]


@pytest.mark.parametrize(("after", "warm"), [(MINUTE - 1, False), (MINUTE, True)])
def test_warm_one_window_after_the_first_tick(after: int, warm: bool) -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, 0)
    outcome = judge([batch(events=[rule], ticks=[T], records=[payment(1, T + after)])])
    assert [alert["warm"] for alert in outcome.alerts] == [warm]


def test_not_warm_before_the_first_tick() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, 0)
    assert [a["warm"] for a in judge([batch(events=[rule], records=[payment(1, T)])]).alerts] == [False]


@pytest.mark.parametrize(("seconds", "warm"), [(900, True), (901, False)])
def test_warm_waits_for_history_that_was_never_kept(seconds: int, warm: bool) -> None:
    # Without a rule the floor is clock - slack: a rule that comes now lacks all that lay below.
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=seconds), 0, 0)
    late_in_history = T + 10 * SLACK
    outcome = judge(
        [
            batch(ticks=[T, late_in_history]),
            batch(events=[rule], records=[payment(1, late_in_history)]),
        ]
    )
    assert [alert["warm"] for alert in outcome.alerts] == [warm]
