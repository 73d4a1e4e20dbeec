"""`completeFrom` of END_BACKFILL: rules are warm earlier (decision 0039)."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.unit.oracle.support.backfills import NAME, RULE, START, tally, warm_from
from tests.unit.oracle.support.hour_timeline import SMALL, ms, pay, play


def ended(since: float | None) -> bytes:
    return Registry().end_backfill(NAME, None if since is None else ms(since))


def paused() -> bytes:
    """Its status tells from when the rule is warm."""
    registry = Registry()
    registry.publish(1, tally(), 0, 0)
    return registry.move("RulePaused", "PAUSED", 1, 0)


@pytest.mark.parametrize(("since", "warm"), [(None, 3700), (40, 3640), (-100, 3500), (200, 3700)])
def test_the_first_tick_counts_as_no_higher(since: float | None, warm: int) -> None:
    assert warm_from(play(RULE, START, 100, ended(since), paused())) == [None, warm]


def test_an_alert_is_warm_by_it() -> None:
    for since, warm in ((40, [False, True]), (None, [False, False])):
        outcome = play(RULE, START, 100, ended(since), pay(1, 3639.999), pay(2, 3640))
        assert [alert["warm"] for alert in outcome.alerts] == warm


def test_floors_stay() -> None:
    registry = Registry()
    small, rule = registry.change_settings(SMALL, 0), registry.publish(1, tally(), 0, 0)
    outcome = play(small, rule, START, 100, 4000, ended(-5000), paused())
    # What is kept is from 380 on.
    assert warm_from(outcome) == [None, 3980]
    later = registry.publish(1, tally(bucket=60), 0, 0)
    assert warm_from(play(small, later, START, 100, 4000, ended(-5000), paused())) == [None, 3960]


@pytest.mark.parametrize("command", [Registry().control("CLEAR_STATE_ALL", 0), Registry().clear_rule(1)])
def test_what_clears_have_raised_counts_as_no_higher(command: bytes) -> None:
    # 100, and 300 for what may be ahead.
    assert warm_from(play(RULE, START, 100, command, paused())) == [None, 4000]
    assert warm_from(play(RULE, START, 100, command, ended(150), paused())) == [None, 3750]
    assert warm_from(play(RULE, START, 100, command, ended(50), paused())) == [None, 3650]


@pytest.mark.parametrize("command", [Registry().control("CLEAR_STATE_ALL", 0), Registry().clear_rule(1)])
def test_what_a_later_clear_raises_is_higher(command: bytes) -> None:
    assert warm_from(play(RULE, START, 100, command, ended(50), command, paused())) == [None, 4000]


def test_a_first_tick_that_comes_later_counts_as_no_higher_either() -> None:
    assert warm_from(play(RULE, START, ended(50), paused(), 100, paused())) == [None, None, 3650]


def test_the_lowest_of_several_counts() -> None:
    registry = Registry()
    starts = [registry.start_backfill() for _ in range(3)]
    ends = [
        registry.end_backfill(name, ms(since)) for (_, name), since in zip(starts, (70, 40, 60), strict=True)
    ]
    outcome = play(RULE, *[start for start, _ in starts], 100, *ends, paused())
    assert warm_from(outcome) == [None, 3640]
