"""Named frauds: each trips a seeded rule by accumulation, with accounts that nobody else has."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.demo.generator.naive_rules import Sent, Trip, seeded_rules, trips
from tripline_demo.generator.frauds import BY_NAME, DRIP_MS, FRAUDS, Play

TRIPPED = {
    "beneficiary-burst": {
        "More than 20,000 from one payer to one beneficiary within 10 minutes",
        "More than 30 payments by one payer within a minute",
        "More than 24 payments of one type by one payer within a minute",
    },
    "slow-drip": {"More than 20,000 from one payer to one beneficiary within 10 minutes"},
    "many-payers": {"More than 40,000 to one beneficiary within 5 minutes, whoever pays"},
    "card-testing": {"More than 24 payments of one type by one payer within a minute"},
}


def sent(play: Play) -> list[Sent]:
    return [Sent(moment.payment, moment.after_ms - moment.payment.age_ms) for moment in play.moments]


def tripped(play: Play) -> list[Trip]:
    return trips(seeded_rules(), sent(play))


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("seed", [1, 7, 2**53 - 1])
def test_each_fraud_trips_what_it_is_told_to_and_not_by_one_payment(name: str, seed: int) -> None:
    play = BY_NAME[name].stage(seed, 3)
    found = tripped(play)
    assert {trip.rule for trip in found} == TRIPPED[name]
    rules = {rule.name: rule for rule in seeded_rules()}
    for trip in found:
        assert not rules[trip.rule].trips(rules[trip.rule].value([trip.sent])), "explained by itself"


@pytest.mark.parametrize("fraud", FRAUDS, ids=lambda fraud: fraud.name)
def test_a_play_is_as_long_as_it_says_and_in_order(fraud: object) -> None:
    assert isinstance(fraud, type(FRAUDS[0]))
    play = fraud.stage(5, 0)
    assert len(play.moments) == fraud.payments
    times = [moment.after_ms for moment in play.moments]
    assert times == sorted(times)
    assert times[0] == 0
    assert times[-1] < fraud.seconds * 1_000
    happened = [each.event_time for each in sent(play)]
    assert happened == sorted(happened), "a payment that is late in its group would not be judged in order"


def test_a_slow_drip_is_slow_by_event_time_and_never_too_late() -> None:
    happened = [each.event_time for each in sent(BY_NAME["slow-drip"].stage(1, 0))]
    assert happened[-1] - happened[0] >= DRIP_MS
    assert max(later - earlier for earlier, later in itertools.pairwise(happened)) <= 60_000
    assert max(moment.payment.age_ms for moment in BY_NAME["slow-drip"].stage(1, 0).moments) < 600_000


def test_plays_are_the_same_under_a_seed_and_have_accounts_of_their_own() -> None:
    for fraud in FRAUDS:
        assert fraud.stage(1, 4) == fraud.stage(1, 4)
    payees = [
        play.cast.payee
        for seed in (1, 2)
        for play in (BY_NAME["slow-drip"].stage(seed, n) for n in range(50))
    ]
    assert len(set(payees)) == len(payees)
    strangers = {moment.payment.payee for moment in BY_NAME["many-payers"].stage(1, 0).moments}
    assert len(strangers) == BY_NAME["many-payers"].payments
