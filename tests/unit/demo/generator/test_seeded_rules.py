"""The seeded rules on the seeded traffic: all of them trip soon, none of them floods, and only by accumulation."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.demo.generator.naive_rules import Sent, Trip, seeded_rules, trips
from tripline_demo.generator.stream import payments, shape_of
from tripline_demo.generator.traffic import DEFAULT_RATE, SCENARIOS, Traffic

SECONDS = 180


def stream(traffic: Traffic, seconds: int = SECONDS) -> list[Sent]:
    count = traffic.rate * seconds
    made = payments(shape_of(traffic), 0, count)
    return [Sent(payment, payment.number * 1_000 // traffic.rate - payment.age_ms) for payment in made]


@pytest.fixture(scope="module", params=[1, 2, 20251121])
def tripped(request: pytest.FixtureRequest) -> list[Trip]:
    return trips(seeded_rules(), stream(Traffic(seed=request.param)))


def test_every_rule_trips_within_half_a_minute(tripped: list[Trip]) -> None:
    first = {trip.rule: trip.sent.event_time for trip in reversed(tripped)}
    assert set(first) == {rule.name for rule in seeded_rules()}
    assert max(first.values()) <= 30_000


def test_alerts_neither_dry_up_nor_flood(tripped: list[Trip]) -> None:
    per_second = len(tripped) / SECONDS
    assert 0.2 <= per_second <= 2
    by_rule = Counter(trip.rule for trip in tripped)
    assert min(by_rule.values()) >= SECONDS / 30, by_rule


def test_no_ten_seconds_bring_more_than_thirty(tripped: list[Trip]) -> None:
    assert max(Counter(trip.sent.event_time // 10_000 for trip in tripped).values()) <= 30


def test_only_a_maximum_is_explained_by_its_transaction_alone(tripped: list[Trip]) -> None:
    rules = {rule.name: rule for rule in seeded_rules()}
    for trip in tripped:
        rule = rules[trip.rule]
        alone = rule.trips(rule.value([trip.sent]))
        assert alone == (rule.definition.function == "MAX"), trip


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_trips_exactly_one_rule(name: str) -> None:
    found = trips(seeded_rules(), stream(Traffic(scenarios=(name,)), 60))
    assert len({trip.rule for trip in found}) == 1


def test_the_background_alone_trips_nothing() -> None:
    assert trips(seeded_rules(), stream(Traffic(scenarios=()), SECONDS)) == []


@pytest.mark.parametrize("rate", [20, 50])
def test_little_traffic_trips_every_rule_too(rate: int) -> None:
    found = trips(seeded_rules(), stream(Traffic(rate=rate), 60))
    assert {trip.rule for trip in found} == {rule.name for rule in seeded_rules()}


def test_much_traffic_has_more_people_not_busier_ones() -> None:
    quiet, busy = Traffic(scenarios=()), Traffic(rate=10 * DEFAULT_RATE, scenarios=())
    assert trips(seeded_rules(), stream(busy, 30)) == []
    assert shape_of(busy).people.payees == 10 * shape_of(quiet).people.payees
