"""The stream of activities: kinds of event in one stream, and what some of them lack."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts import event_type_loader, schemas
from tripline_demo.generator.activities.trade import ACTIVITIES
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.shape import Kind, period_for, place
from tripline_demo.generator.traffic import Traffic, shape_of

NOW = 1_763_700_000_000
ACTIVITY = event_type_loader.load("activity")


def values(traffic: Traffic, count: int) -> list[dict[str, Any]]:
    made = ACTIVITIES.make(shape_of(traffic, ACTIVITIES), 0, count)
    return [json.loads(ACTIVITIES.json_value(moved, f"t-{moved.number}", NOW)) for moved in made]


@given(start=st.integers(0, 10_000), cuts=st.lists(st.integers(1, 300), max_size=5))
def test_the_stream_is_the_same_however_it_is_cut(start: int, cuts: list[int]) -> None:
    shape = shape_of(Traffic(late_share=0.1, duplicate_share=0.2, broken_share=0.05), ACTIVITIES)
    whole = list(ACTIVITIES.make(shape, start, sum(cuts)))
    parts: list[Any] = []
    for cut in cuts:
        parts += ACTIVITIES.make(shape, start + len(parts), cut)
    assert parts == whole


def test_the_first_ones_of_seed_1_stay_what_they_are() -> None:
    """A change of the stream breaks who compares runs by their seed: it is to be made knowingly."""
    told = [
        (value["accountId"], value["kind"], value["deviceId"], value["amount"])
        for value in values(Traffic(), 4)
    ]
    assert told == [
        ("a16100", "PROFILE_CHANGE", "d8050", "0.00"),
        ("a961701234", "PAYMENT", "d304385042", "101.50"),
        ("a8014", "LOG_IN", "d4007", "0.00"),
        ("a14788", "PAYMENT", "d7394", "5.40"),
    ]


def test_every_one_keeps_the_contract_and_has_what_its_kind_has() -> None:
    check = schemas.validator("transactions.v1", ACTIVITY)
    kinds = Counter[str]()
    for value in values(Traffic(), 2_000):
        check(value)
        kind = value["kind"]
        kinds[kind] += 1
        assert (value["logInResult"] is not None) == (kind == "LOG_IN")
        assert (value["profilePart"] is not None) == (kind == "PROFILE_CHANGE")
        assert (value["beneficiaryId"] is not None) == (kind == "PAYMENT")
        assert (value["amount"] != "0.00") == (kind == "PAYMENT")
        assert (value["deviceId"] is None) == (value["ipAddress"] is None)
    assert set(kinds) == set(ACTIVITY.field("kind").values)
    assert min(kinds.values()) > 50


def test_accounts_behave_like_people() -> None:
    sent_values = values(Traffic(scenarios=(), sizes={"accounts": 100, "beneficiaries": 10}), 20_000)
    accounts = Counter(value["accountId"] for value in sent_values)
    assert len(accounts) == 100
    assert 8 < accounts["a1"] / accounts["a100"] < 16
    devices = defaultdict(set)
    for value in sent_values:
        if value["deviceId"]:
            devices[value["deviceId"]].add(value["accountId"])
    assert max(len(of_device) for of_device in devices.values()) == 2
    parts = Counter(value["profilePart"] for value in sent_values)
    assert set(parts) == {None, *ACTIVITY.field("profilePart").values}


@pytest.mark.parametrize("rate", [0, 1, 37, 200, 20_000])
def test_lanes_never_meet(rate: int) -> None:
    lanes = ACTIVITIES.scenarios
    period = period_for(rate, len(lanes))
    places = {place(lanes, name, period) for name in lanes}
    assert len(places) == len(lanes)
    assert max(places) < period


def test_mischief_spares_the_scenarios() -> None:
    made = ACTIVITIES.make(shape_of(Traffic(late_share=0.5, broken_share=0.5), ACTIVITIES), 0, 2_000)
    lanes = {place(ACTIVITIES.scenarios, name, 100) for name in ACTIVITIES.scenarios}
    assert {event.kind for event in made if event.number % 100 in lanes} == {Kind.PLAIN}
    assert {event.kind for event in made if event.number % 100 not in lanes} == {Kind.LATE, Kind.BROKEN}


def test_the_key_is_the_account() -> None:
    (made,) = ACTIVITIES.make(shape_of(Traffic(), ACTIVITIES), 3, 1)
    (record,) = Renderer("run", ACTIVITIES).records([made], NOW)
    assert record.key == json.loads(record.value)["accountId"].encode()
