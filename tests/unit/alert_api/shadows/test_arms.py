"""The arms of a rollout: the ratio by hand, and its range tried by simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest

from alert_api.domain.performance.arms import ArmSums, RolloutSpan, ratio_of

DAY_MS = 86_400_000
TRIALS = 300


def poisson(rng: Random, rate: float) -> int:
    time, count = rng.expovariate(rate), 0
    while time < 1:
        time, count = time + rng.expovariate(rate), count + 1
    return count


def sums(groups: Sequence[tuple[int, int]]) -> ArmSums:
    """Of each group its alerts and their weights."""
    told = [(alerts, weighted) for alerts, weighted in groups if alerts]
    return ArmSums(
        len(told),
        sum(alerts for alerts, _ in told),
        sum(weighted for _, weighted in told),
        sum(weighted**2 for _, weighted in told),
    )


def rolled_out(
    rng: Random, groups: int, steps: Sequence[tuple[int, float]], ratio: float, most: float
) -> tuple[ArmSums, ArmSums]:
    """The arms of groups in buckets, few of which have many alerts; each step has a percent and a traffic."""
    trial, active = [], []
    for _ in range(groups):
        bucket, rate = rng.randrange(100), min(most, rng.paretovariate(1.3) * 0.1)
        by_arm = {True: [0, 0], False: [0, 0]}
        for percent, traffic in steps:
            is_new = bucket < percent
            count = poisson(rng, rate * traffic * (ratio if is_new else 1))
            by_arm[is_new][0] += count
            by_arm[is_new][1] += count * (100 - percent if is_new else percent)
        trial.append((by_arm[True][0], by_arm[True][1]))
        active.append((by_arm[False][0], by_arm[False][1]))
    return sums(trial), sums(active)


@pytest.mark.parametrize(
    ("groups", "steps", "ratio", "most"),
    [
        pytest.param(1_500, [(10, 1.0)], 1.0, 3.0, id="a tenth"),
        pytest.param(800, [(50, 1.0)], 0.5, 3.0, id="a half, and half of the alerts"),
        pytest.param(800, [(10, 1.0), (40, 3.0)], 1.0, 3.0, id="widened when there is more traffic"),
        pytest.param(300, [(5, 0.5), (20, 1.0), (60, 1.0)], 2.0, 1.0, id="few groups, widened twice"),
    ],
)
def test_the_ratio_lies_in_its_range_about_as_often_as_is_said(
    groups: int, steps: Sequence[tuple[int, float]], ratio: float, most: float
) -> None:
    rng = Random(151)
    inside = told = narrow = 0
    for _ in range(TRIALS):
        range_of = ratio_of(*rolled_out(rng, groups, steps, ratio, most))
        if range_of is None:
            continue
        told += 1
        high = math.inf if range_of.high is None else range_of.high
        inside += range_of.low <= ratio <= high
        narrow += range_of.low > ratio / 4 and high < ratio * 4
    assert told > 0.9 * TRIALS
    assert 0.92 * told <= inside, f"{inside} of {told}"
    assert narrow >= 0.5 * told, "a range that says nothing holds everything"


def test_alerts_as_if_they_were_independent_would_say_too_much() -> None:
    rng = Random(151)
    inside = 0
    for _ in range(TRIALS):
        arms = rolled_out(rng, 800, [(50, 1.0)], 1.0, 8.0)
        # each alert a group of its own
        alone = [ArmSums(arm.alerts, arm.alerts, arm.weighted, arm.weighted * 50) for arm in arms]
        range_of = ratio_of(alone[0], alone[1])
        assert range_of is not None
        assert range_of.high is not None
        inside += range_of.low <= 1 <= range_of.high
    assert inside < 0.85 * TRIALS


def plain(groups: int, weight: int) -> ArmSums:
    """One alert in each group."""
    return ArmSums(groups, groups, groups * weight, groups * weight**2)


def test_a_tenth_of_groups_with_a_tenth_of_alerts() -> None:
    """One alert in each group: ten of a hundred, whose exact limits (Clopper and Pearson) are 4.90 % and 17.62 %.

    As odds against ten to ninety: 0.464 and 1.925.
    """
    told = ratio_of(plain(10, 90), plain(90, 10))
    assert told is not None
    assert told.value == 1
    assert (told.low, told.high) == pytest.approx((0.464, 1.925), abs=0.01)


def test_what_alerts_of_few_groups_say() -> None:
    many, one_group = plain(40, 10), ArmSums(1, 40, 3_600, 3_600**2)
    spread, clustered = ratio_of(plain(40, 90), many), ratio_of(one_group, many)
    assert spread is not None
    assert clustered is not None
    assert spread.value == clustered.value == 9
    assert clustered.low < spread.low < 9 < (spread.high or 0) < (clustered.high or 0)


def test_an_arm_without_alerts_has_no_ratio_and_one_group_no_end() -> None:
    assert ratio_of(ArmSums(), plain(9, 10)) is None
    assert ratio_of(plain(9, 90), ArmSums()) is None
    told = ratio_of(plain(9, 90), ArmSums(2, 1_000, 10_000, 9_999**2 + 1))
    assert told is not None
    assert (told.value, told.high) == (0.081, None)
    assert 0 < told.low < told.value


def test_alerts_a_day_and_percent_are_those_of_their_days() -> None:
    week = [RolloutSpan(10, 0, 7 * DAY_MS)]
    assert ArmSums(5, 70, 70 * 90).a_day(week) == 1
    assert ArmSums(50, 630, 630 * 10).a_day(week) == 1
    assert ArmSums().a_day(week) == 0
    assert ArmSums().a_day([]) is None
    widened = [RolloutSpan(10, 0, DAY_MS), RolloutSpan(50, DAY_MS, 2 * DAY_MS)]
    # two alerts for each percent and day in either arm, though more than half come from the second day
    assert ArmSums(9, 120, 20 * 90 + 100 * 50).a_day(widened) == 2
    assert ArmSums(9, 280, 180 * 10 + 100 * 50).a_day(widened) == 2
