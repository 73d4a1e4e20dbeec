from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_demo.generator import chance
from tripline_demo.generator.amounts import MAX_ORDINARY_CENTS
from tripline_demo.generator.payments.scenarios import SCENARIOS
from tripline_demo.generator.payments.stream import Payment, payments
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.shape import LATE_MS, Kind, Shape, period_for, place
from tripline_demo.generator.traffic import Traffic
from tripline_demo.generator.traffic import shape_of as shape_of_trade


def shape_of(traffic: Traffic) -> Shape:
    return shape_of_trade(traffic, PAYMENTS)


MISCHIEVOUS = Traffic(late_share=0.1, duplicate_share=0.2, broken_share=0.05)


@given(start=st.integers(0, 10_000), cuts=st.lists(st.integers(1, 300), max_size=5))
def test_the_stream_is_the_same_however_it_is_cut(start: int, cuts: list[int]) -> None:
    shape = shape_of(MISCHIEVOUS)
    whole = payments(shape, start, sum(cuts))
    parts: list[Payment] = []
    for cut in cuts:
        parts += payments(shape, start + len(parts), cut)
    assert parts == whole


def test_another_seed_is_another_stream() -> None:
    one, other = (payments(shape_of(Traffic(seed=seed)), 0, 1_000) for seed in (1, 2))
    same = sum(x.cents == y.cents for x, y in zip(one, other, strict=True))
    assert same < 50


def test_the_first_payments_of_seed_1_stay_what_they_are() -> None:
    """A change of the stream breaks who compares runs by their seed: it is to be made knowingly."""
    made = payments(shape_of(Traffic()), 0, 3)
    assert [(p.payee, p.beneficiary, p.payment_type, p.cents, p.age_ms) for p in made] == [
        (635, 1534, 0, 5260, 136), (71019726, 415139123, 0, 176319, 0), (4242, 4, 0, 2821, 61),
    ]  # fmt: skip


def test_amounts_are_spread_like_payments() -> None:
    cents = np.array([p.cents for p in payments(shape_of(Traffic(scenarios=())), 0, 50_000)])
    assert 36_00 < np.median(cents) < 40_00
    assert 54_00 < cents.mean() < 60_00
    assert cents.max() <= MAX_ORDINARY_CENTS
    assert len(set((cents % 100).tolist())) == 100


def test_some_people_are_busier_than_others() -> None:
    made = payments(shape_of(Traffic(scenarios=(), sizes={"payees": 100, "beneficiaries": 10})), 0, 50_000)
    payees = Counter(p.payee for p in made)
    assert set(payees) == set(range(1, 101))
    assert {p.beneficiary for p in made} == set(range(1, 11))
    assert 8 < payees[1] / payees[100] < 15
    assert 0.68 < sum(p.payment_type for p in made) / len(made) < 0.72


def test_mischief_has_the_share_asked_for_and_spares_the_scenarios() -> None:
    made = payments(shape_of(MISCHIEVOUS), 0, 40_000)
    kinds = Counter(p.kind for p in made)
    background = 1 - len(SCENARIOS) / 100
    for kind, share in ((Kind.LATE, 0.1), (Kind.DUPLICATE, 0.2), (Kind.BROKEN, 0.05)):
        assert kinds[kind] / len(made) == pytest.approx(share * background, rel=0.1)
    lanes = {place(SCENARIOS, name, 100) for name in SCENARIOS}
    assert {p.kind for p in made if p.number % 100 in lanes} == {Kind.PLAIN}
    ages = [p.age_ms for p in made if p.kind == Kind.LATE]
    assert LATE_MS[0] <= min(ages)
    assert max(ages) <= LATE_MS[1] < 600_000


@pytest.mark.parametrize("rate", [0, 1, 10, 37, 150, 200, 20_000])
def test_lanes_never_meet(rate: int) -> None:
    period = period_for(rate, len(SCENARIOS))
    places = {place(SCENARIOS, name, period) for name in SCENARIOS}
    assert len(places) == len(SCENARIOS)
    assert max(places) < period


def test_uniform_bits_are_uniform() -> None:
    drawn = chance.shares(7, 3, np.arange(100_000, dtype=np.uint64))
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert np.histogram(drawn, 10, (0, 1))[0].min() > 9_500
    neighbour = chance.shares(7, 4, np.arange(100_000, dtype=np.uint64))
    assert abs(np.corrcoef(drawn, neighbour)[0, 1]) < 0.02
