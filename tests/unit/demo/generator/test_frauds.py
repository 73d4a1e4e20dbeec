"""Named frauds: each trips a seeded rule by accumulation, with accounts that nobody else has."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.unit.demo.generator.naive_rules import Sent, seeded_rules, trips
from tripline_demo.generator.activities.trade import ACTIVITIES
from tripline_demo.generator.authorisations.trade import AUTHORISATIONS
from tripline_demo.generator.frauds import DRIP_MS, Fraud, Play
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.trade import Trade

TRIPPED: list[tuple[Trade, str, set[str]]] = [
    (
        PAYMENTS,
        "beneficiary-burst",
        {
            "More than 20,000 from one payer to one beneficiary within 10 minutes",
            "More than 30 payments by one payer within a minute",
            "More than 24 payments of one type by one payer within a minute",
        },
    ),
    (PAYMENTS, "slow-drip", {"More than 20,000 from one payer to one beneficiary within 10 minutes"}),
    (PAYMENTS, "many-payers", {"More than 40,000 to one beneficiary within 5 minutes, whoever pays"}),
    (PAYMENTS, "card-testing", {"More than 24 payments of one type by one payer within a minute"}),
    (
        AUTHORISATIONS,
        "card-testing",
        {"More than 20 authorisations of at most 2 at one merchant within a minute"},
    ),
    (AUTHORISATIONS, "shared-device", {"More than 8 different cards on one device within 10 minutes"}),
    (
        AUTHORISATIONS,
        "card-spree",
        {"One card more than 20 times and at more than 12 merchants within a minute"},
    ),
    (AUTHORISATIONS, "slow-drip", {"More than 8,000 by one card at one merchant within 10 minutes"}),
    (
        ACTIVITIES,
        "account-takeover",
        {"A password change, then a payment to somebody never paid before, within an hour"},
    ),
    (
        ACTIVITIES,
        "shared-guesses",
        {"Log-ins at more than 8 accounts from one device fail within 10 minutes"},
    ),
    (
        ACTIVITIES,
        "guessed-password",
        {"More than 9 log-ins at an account fail and one passes within 10 minutes"},
    ),
    (ACTIVITIES, "mule", {"More than 8,000 to one beneficiary within 10 minutes, whoever pays"}),
]
EVERY = [(trade, fraud) for trade in (PAYMENTS, AUTHORISATIONS, ACTIVITIES) for fraud in trade.frauds]
IDS = [f"{trade.event_type.name}-{fraud.name}" for trade, fraud in EVERY]
each_fraud = pytest.mark.parametrize(("trade", "fraud"), EVERY, ids=IDS)


def sent(trade: Trade, play: Play) -> list[Sent]:
    return [Sent(trade, moment.made, moment.after_ms - moment.made.age_ms) for moment in play.moments]


def test_every_fraud_is_known_here() -> None:
    assert [(trade, name) for trade, name, _ in TRIPPED] == [(trade, fraud.name) for trade, fraud in EVERY]


@pytest.mark.parametrize(("trade", "name", "expected"), TRIPPED, ids=IDS)
@pytest.mark.parametrize("seed", [1, 7, 2**53 - 1])
def test_each_fraud_trips_what_it_is_told_to_and_not_by_one_transaction(
    trade: Trade, name: str, expected: set[str], seed: int
) -> None:
    fraud = trade.fraud(name)
    assert fraud is not None
    trips_by_rule = trips(seeded_rules(trade), sent(trade, fraud.stage(seed, 3)))
    assert {trip.rule for trip in trips_by_rule} == expected
    rules = {rule.name: rule for rule in seeded_rules(trade)}
    for trip in trips_by_rule:
        assert not rules[trip.rule].trips([trip.sent]), "explained by itself"


@each_fraud
def test_a_play_is_as_long_as_it_says_and_in_order(trade: Trade, fraud: Fraud) -> None:
    play = fraud.stage(5, 0)
    assert len(play.moments) == fraud.transactions
    times = [moment.after_ms for moment in play.moments]
    assert times == sorted(times)
    assert times[0] == 0
    assert times[-1] < fraud.seconds * 1_000
    happened = [one.event_time for one in sent(trade, play)]
    assert happened == sorted(happened), "one that is late in its group would not be judged in order"


@each_fraud
def test_a_play_tells_who_plays(trade: Trade, fraud: Fraud) -> None:
    play = fraud.stage(5, 0)
    assert tuple(play.cast) == trade.cast
    assert any(play.cast.values())
    values = [json.loads(trade.json_value(moment.made, "t", 0)) for moment in play.moments]
    for name, who in play.cast.items():
        # what some kinds lack is null beside who plays
        met = {str(value[name]) for value in values}
        assert met - {"None"} == {who} if who is not None else len(met) > 1 or met == {"None"}


@pytest.mark.parametrize("trade", [PAYMENTS, AUTHORISATIONS], ids=lambda trade: str(trade.event_type.name))
def test_a_slow_drip_is_slow_by_event_time_and_never_too_late(trade: Trade) -> None:
    drip = trade.fraud("slow-drip")
    assert drip is not None
    play = drip.stage(1, 0)
    happened = [one.event_time for one in sent(trade, play)]
    assert happened[-1] - happened[0] >= DRIP_MS
    assert max(later - earlier for earlier, later in itertools.pairwise(happened)) <= 60_000
    assert max(moment.made.age_ms for moment in play.moments) < 600_000


@each_fraud
def test_plays_are_the_same_under_a_seed_and_have_accounts_of_their_own(trade: Trade, fraud: Fraud) -> None:
    assert fraud.stage(1, 4) == fraud.stage(1, 4)
    players = [tuple(fraud.stage(seed, n).cast.values()) for seed in (1, 2) for n in range(50)]
    assert len(set(players)) == len(players)
    values = [json.loads(trade.json_value(moment.made, "t", 0)) for moment in fraud.stage(1, 0).moments]
    strangers = [name for name, who in fraud.stage(1, 0).cast.items() if who is None]
    assert all(len({str(value[name]) for value in values}) in (1, fraud.transactions) for name in strangers)
