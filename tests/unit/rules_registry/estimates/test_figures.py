"""The ranges of estimates hold what they are said to hold, tried by simulation; where nothing was seen they say so."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from rules_registry.domain.estimates.estimate import figures_of, is_asked_for, sample_of
from rules_registry.domain.estimates.figures import (
    SLICES,
    Clusters,
    Figure,
    a_day,
    at_most,
    divided,
    plus,
    total,
)
from tests.unit.engine.prover.support.fake_backtest import made_up_sample

DAYS, PARTS, TRIALS = 7, 4, 200
DAY_MS = 86_400_000


def drawn(rng: Random, groups: int, most: float) -> list[list[int]]:
    """Alerts of each group on each of the days, and on one more: few groups have many, most have hardly any."""
    rates = [min(most, rng.paretovariate(1.2) * 0.02) for _ in range(groups)]
    return [[poisson(rng, rate) for _ in range(DAYS + 1)] for rate in rates]


def poisson(rng: Random, rate: float) -> int:
    time, count = rng.expovariate(rate), 0
    while time < 1:
        time, count = time + rng.expovariate(rate), count + 1
    return count


def clusters(seen: Sequence[Sequence[int]]) -> Clusters:
    sums = [sum(days) for days in seen]
    squares = sum(count * count for days in seen for count in days)
    return Clusters(sum(map(bool, sums)), sum(sums), sum(n * n for n in sums), squares)


@pytest.mark.parametrize(("groups", "most"), [(60, 2.0), (300, 0.3), (600, 5.0)])
def test_a_day_lies_in_its_range_about_as_often_as_is_said(groups: int, most: float) -> None:
    rng = Random(142)
    inside = narrow = 0
    for _ in range(TRIALS):
        population = drawn(rng, groups, most)
        sample = [days[:DAYS] for days in population if rng.random() < 1 / PARTS]
        told = a_day(clusters(sample), DAYS, PARTS)
        assert told.low is not None
        assert told.high is not None
        following = sum(days[DAYS] for days in population)
        inside += int(told.low) <= following <= -int(-told.high // 1)
        narrow += told.low > 0 or told.high < 4 * following
    assert inside >= 0.90 * TRIALS
    assert narrow >= 0.5 * TRIALS, "a range that says nothing holds everything"


def test_a_total_lies_in_its_range_about_as_often_as_is_said() -> None:
    rng = Random(142)
    inside = 0
    for _ in range(TRIALS):
        population = [rng.paretovariate(2.5) for _ in range(2_000)]
        slices = [0.0] * SLICES
        for value in population:
            shard = rng.randrange(SLICES * PARTS)
            if shard < SLICES:
                slices[shard] += value
        told = total(slices, PARTS)
        assert told.low is not None
        assert told.high is not None
        inside += told.low <= sum(population) <= told.high
    assert 0.88 * TRIALS <= inside < TRIALS


def test_limits_of_a_plain_count_are_those_of_a_poisson_count() -> None:
    """One alert in each group, a day that adds nothing: Byar's limits of ten are 4.79 and 18.39."""
    told = a_day(Clusters(10, 10, 10, 0), 1, 1)
    assert told.low == pytest.approx(4.79, abs=0.01)
    assert told.high == pytest.approx(18.39, abs=0.01)


def test_where_nothing_was_seen_there_may_still_be_something() -> None:
    nothing = Clusters(0, 0, 0, 0)
    all_of_a_week, a_tenth = a_day(nothing, 7, 1), a_day(nothing, 7, 10)
    assert (all_of_a_week.value, all_of_a_week.low) == (0, 0)
    assert 0 < (all_of_a_week.high or 0) < (a_tenth.high or 0)


def test_fewer_groups_of_the_same_and_fewer_days_make_a_range_wider() -> None:
    """Eighty groups a day, two alerts each: seen whole for a week or a day, or a quarter of them for a day."""
    week, day, quarter = (
        a_day(Clusters(count, 2 * count, 4 * count, 4 * count), days, parts)
        for count, days, parts in ((560, 7, 1), (80, 1, 1), (20, 1, 4))
    )
    assert [told.value for told in (week, day, quarter)] == [160, 160, 160]
    widths = [(told.high or 0) / told.value for told in (week, day, quarter)]
    assert widths == sorted(widths)
    assert widths[2] > widths[0] + 0.2


def test_figures_are_counted_up_from_the_sample() -> None:
    result = made_up_sample()
    sample, figures = sample_of(result), figures_of(result)
    assert (sample.days, sample.parts, sample.transactions) == (2, 4, 2_000)
    assert figures.alerts_per_day.value == pytest.approx(30 * 4 / 2)
    assert figures.groups_per_day.value == pytest.approx(15 * 4 / 2)
    evaluations = sum(slice_["evaluations"] for slice_ in result["slices"]) * 4
    assert figures.evaluations_per_second.value == pytest.approx(evaluations / (2 * 86_400))
    assert figures.held_bytes.value == 1_000_000 + 4 * sum(100_000 + n * 1_000 for n in range(8))
    for figure in (figures.alerts_per_day, figures.groups_per_day, figures.held_bytes):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high


def test_a_rule_with_one_group_affects_one_at_most_and_has_no_range_of_totals() -> None:
    result = {
        **made_up_sample(),
        "grouped": False,
        "parts": 1,
        "slices": [{"evaluations": 172_800, "bytes": 5}],
    }
    figures = figures_of(result)
    assert figures.groups_per_day.value == 1
    assert figures.groups_per_day.high == 1
    assert figures.evaluations_per_second == Figure(1)
    assert figures.held_bytes == Figure(1_000_000), "what is below the bare shard is nothing"


def test_figures_that_are_counted_on() -> None:
    figure = Figure(6, 3, 9)
    assert plus(figure, 1) == Figure(7, 4, 10)
    assert divided(figure, 3) == Figure(2, 1, 3)
    assert at_most(figure, 7) == Figure(6, 3, 7)
    assert plus(Figure(6), 1) == Figure(7)


@pytest.mark.parametrize(
    ("state", "days_ago", "asks"),
    [
        ("DRAFT", 6.9, True),
        ("SUBMITTED", 6.9, True),
        ("SUBMITTED", 7.1, False),
        ("APPROVED", 0.9, True),
        ("APPROVED", 1.1, False),
        ("WITHDRAWN", 0, False),
    ],
)
def test_what_asks_for_an_estimate(state: str, days_ago: float, asks: bool) -> None:
    now = 100 * DAY_MS
    assert is_asked_for(state, int(now - days_ago * DAY_MS), now) is asks
