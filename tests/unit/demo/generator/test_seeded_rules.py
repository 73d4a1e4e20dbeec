"""The seeded rules on the seeded traffic: all of them trip soon, none of them floods, and only by accumulation."""

from __future__ import annotations

from collections import Counter

import pytest

from rules_registry.domain.history_quota import HistoryQuota
from tests.unit.demo.generator.naive_rules import Sent, Trip, seeded_rules, trips
from tripline_demo.generator.activities.trade import ACTIVITIES
from tripline_demo.generator.authorisations.trade import AUTHORISATIONS
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.shape import DEFAULT_RATE
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.traffic import Traffic, shape_of
from tripline_demo.stack.plan import QUOTAS

pytestmark = pytest.mark.slow  # all of them together

SECONDS = 120
TRADES = [PAYMENTS, AUTHORISATIONS, ACTIVITIES]
SCENARIOS = [(trade, name) for trade in TRADES for name in trade.scenarios]
each_trade = pytest.mark.parametrize("trade", TRADES, ids=lambda trade: str(trade.event_type.name))


def stream(trade: Trade, traffic: Traffic, seconds: int = SECONDS) -> list[Sent]:
    made = trade.make(shape_of(traffic, trade), 0, traffic.rate * seconds)
    return [Sent(trade, event, event.number * 1_000 // traffic.rate - event.age_ms) for event in made]


Tripped = tuple[Trade, list[Trip]]


@pytest.fixture(
    scope="module",
    params=[(trade, seed) for trade in TRADES for seed in (1, 20251121)],
    ids=lambda param: f"{param[0].event_type.name}-{param[1]}",
)
def tripped(request: pytest.FixtureRequest) -> Tripped:
    trade, seed = request.param
    return trade, trips(seeded_rules(trade), stream(trade, Traffic(seed=seed)))


def test_every_rule_trips_within_half_a_minute(tripped: Tripped) -> None:
    trade, trips_by_rule = tripped
    first = {trip.rule: trip.sent.event_time for trip in reversed(trips_by_rule)}
    assert set(first) == {rule.name for rule in seeded_rules(trade)}
    assert max(first.values()) <= 30_000


def test_alerts_neither_dry_up_nor_flood(tripped: Tripped) -> None:
    _, trips_by_rule = tripped
    assert 0.2 <= len(trips_by_rule) / SECONDS <= 2
    by_rule = Counter(trip.rule for trip in trips_by_rule)
    assert min(by_rule.values()) >= SECONDS / 30, by_rule


def test_no_ten_seconds_bring_more_than_thirty(tripped: Tripped) -> None:
    _, trips_by_rule = tripped
    assert max(Counter(trip.sent.event_time // 10_000 for trip in trips_by_rule).values()) <= 30


def test_only_a_maximum_is_explained_by_its_transaction_alone(tripped: Tripped) -> None:
    trade, trips_by_rule = tripped
    rules = {rule.name: rule for rule in seeded_rules(trade)}
    for trip in trips_by_rule:
        rule = rules[trip.rule]
        assert rule.trips([trip.sent]) == (rule.conditions[0].function == "MAX"), trip


@pytest.mark.parametrize(("trade", "name"), SCENARIOS, ids=[f"{t.event_type.name}-{n}" for t, n in SCENARIOS])
def test_each_scenario_trips_exactly_one_rule(trade: Trade, name: str) -> None:
    trips_by_rule = trips(seeded_rules(trade), stream(trade, Traffic(scenarios=(name,)), 60))
    assert len({trip.rule for trip in trips_by_rule}) == 1


@each_trade
def test_the_background_alone_trips_nothing(trade: Trade) -> None:
    assert trips(seeded_rules(trade), stream(trade, Traffic(scenarios=()), SECONDS)) == []


@each_trade
@pytest.mark.parametrize("rate", [20, 50])
def test_little_traffic_trips_every_rule_too(trade: Trade, rate: int) -> None:
    trips_by_rule = trips(seeded_rules(trade), stream(trade, Traffic(rate=rate), 60))
    assert {trip.rule for trip in trips_by_rule} == {rule.name for rule in seeded_rules(trade)}


@each_trade
def test_much_traffic_has_more_people_not_busier_ones(trade: Trade) -> None:
    quiet, busy = Traffic(scenarios=()), Traffic(rate=10 * DEFAULT_RATE, scenarios=())
    assert trips(seeded_rules(trade), stream(trade, busy, 15)) == []
    assert shape_of(busy, trade).sizes == tuple(10 * size for size in shape_of(quiet, trade).sizes)


@each_trade
def test_the_registry_of_a_stack_has_room_for_all_of_them(trade: Trade) -> None:
    held = 100_000_000  # TRIPLINE_MAX_HISTORY, if nothing is said
    quota = HistoryQuota(held, int(QUOTAS["TRIPLINE_EXPECTED_RATE"]), trade.event_type)
    assert quota.held_by(rule.definition for rule in seeded_rules(trade)) <= held / 2
