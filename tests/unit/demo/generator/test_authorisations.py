"""The stream of card authorisations, and what the generator does under its event type and under one of its own."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.demo.generator.fakes import FakeDesk
from tests.unit.demo.generator.test_api import client_of
from tripline_contracts import event_type_loader, exact_json, schemas
from tripline_demo.generator.authorisations.trade import AUTHORISATIONS
from tripline_demo.generator.breakage import Breakage
from tripline_demo.generator.errors import InvalidInput
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.recordings.recording import Line, lines_of, opened
from tripline_demo.generator.shape import Kind, period_for, place
from tripline_demo.generator.trades import trade_of
from tripline_demo.generator.traffic import Traffic, change, shape_of
from tripline_demo.generator.transaction_input import read

NOW = 1_763_700_000_000
CARD = event_type_loader.load("card-authorisation")
LOG_IN = event_type_loader.from_mapping(
    {
        "name": "log-in",
        "version": 1,
        "noun": "log-in",
        "anchors": ["account", "global"],
        "fields": [
            {"name": "attempt", "role": "id", "kind": "string", "required": True, "maxLength": 36},
            {"name": "at", "role": "time", "kind": "timestamp", "required": True},
            {"name": "account", "role": "key", "kind": "string", "maxLength": 64},
        ],
    }
)


def values(traffic: Traffic, count: int) -> list[dict[str, Any]]:
    made = AUTHORISATIONS.make(shape_of(traffic, AUTHORISATIONS), 0, count)
    return [json.loads(AUTHORISATIONS.json_value(moved, f"t-{moved.number}", NOW)) for moved in made]


@given(start=st.integers(0, 10_000), cuts=st.lists(st.integers(1, 300), max_size=5))
def test_the_stream_is_the_same_however_it_is_cut(start: int, cuts: list[int]) -> None:
    shape = shape_of(Traffic(late_share=0.1, duplicate_share=0.2, broken_share=0.05), AUTHORISATIONS)
    whole = list(AUTHORISATIONS.make(shape, start, sum(cuts)))
    parts: list[Any] = []
    for cut in cuts:
        parts += AUTHORISATIONS.make(shape, start + len(parts), cut)
    assert parts == whole


def test_the_first_ones_of_seed_1_stay_what_they_are() -> None:
    """A change of the stream breaks who compares runs by their seed: it is to be made knowingly."""
    assert [(v["cardId"], v["merchantId"], v["entryMode"], v["amount"]) for v in values(Traffic(), 3)] == [
        ("c4630", "m1077", "CONTACTLESS", "20.86"),
        ("c486127115", "m910186053", "ONLINE", "1.68"),
        ("c12182", "m305", "CONTACTLESS", "69.02"),
    ]


def test_every_one_keeps_the_contract() -> None:
    check = schemas.validator("transactions.v1", CARD)
    for value in values(Traffic(), 500):
        check(value)


def test_cards_and_merchants_behave_like_people() -> None:
    sent_values = values(Traffic(scenarios=(), sizes={"cards": 100, "merchants": 10}), 20_000)
    cards = Counter(value["cardId"] for value in sent_values)
    assert len(cards) == 100
    assert 8 < cards["c1"] / cards["c100"] < 16
    modes = Counter(value["entryMode"] for value in sent_values)
    assert set(modes) == {"CHIP", "CONTACTLESS", "ONLINE", "SWIPE"}
    assert min(modes.values()) > 0.03 * len(sent_values)
    categories = defaultdict(set)
    devices = defaultdict(set)
    for value in sent_values:
        categories[value["merchantId"]].add(value["merchantCategory"])
        assert (value["deviceId"] is not None) == (value["entryMode"] == "ONLINE")
        if value["deviceId"]:
            devices[value["deviceId"]].add(value["cardId"])
    assert {len(merchants) for merchants in categories.values()} == {1}
    assert max(len(devices_of_card) for devices_of_card in devices.values()) == 2


@pytest.mark.parametrize("rate", [0, 1, 10, 37, 150, 200, 20_000])
def test_lanes_never_meet(rate: int) -> None:
    lanes = AUTHORISATIONS.scenarios
    period = period_for(rate, len(lanes))
    places = {place(lanes, name, period) for name in lanes}
    assert len(places) == len(lanes)
    assert max(places) < period


@pytest.mark.parametrize("number", [*range(1, 32), 500])
def test_nothing_broken_passes_for_a_transaction(number: int) -> None:
    (made,) = AUTHORISATIONS.make(shape_of(Traffic(), AUTHORISATIONS), 3, 1)
    (good,) = Renderer("run", AUTHORISATIONS).records([made], NOW)
    assert good.key == json.loads(good.value)["cardId"].encode()
    broken = Breakage(CARD).broken(number, good.value)
    assert broken != good.value
    if len(broken) < 512 * 1024:
        with pytest.raises(ValueError):  # noqa: PT012  # unreadable, or read and refused
            read(exact_json.loads(broken), CARD)
            raise InvalidInput([]) if b"\n" in broken else AssertionError(broken)


def test_mischief_spares_the_scenarios() -> None:
    made = AUTHORISATIONS.make(shape_of(Traffic(late_share=0.5, broken_share=0.5), AUTHORISATIONS), 0, 5_000)
    lanes = {place(AUTHORISATIONS.scenarios, name, 100) for name in AUTHORISATIONS.scenarios}
    assert {event.kind for event in made if event.number % 100 in lanes} == {Kind.PLAIN}
    assert {event.kind for event in made if event.number % 100 not in lanes} == {Kind.LATE, Kind.BROKEN}


def test_a_recording_has_the_columns_of_the_type() -> None:
    rows = [
        b"authorisationId,authorisedAt,cardId,merchantId,deviceId,merchantCategory,entryMode,amount\n",
        b"a1,2026-06-01 12:00:00,17,m3,,fuel,CHIP,1e2\n",
        b"a2,2026-06-01 12:00:01,17,m3,d9,fuel,ONLINE,5,2026-06-01 12:00:02\n",
        b"a3,2026-06-01 12:00:01,17,m3\n",
    ]
    first, second, bad = lines_of(opened(io.BytesIO(b"".join(rows)), CARD), CARD)
    assert isinstance(first, Line)
    assert isinstance(second, Line)
    assert first.transaction == {
        "authorisationId": "a1", "authorisedAt": 1_780_315_200_000, "cardId": "17", "merchantId": "m3",
        "deviceId": None, "merchantCategory": "fuel", "entryMode": "CHIP", "amount": "100",
        "ingestionTimestamp": None,
    }  # fmt: skip
    assert (second.transaction["deviceId"], second.transaction["ingestionTimestamp"]) == (
        "d9",
        1_780_315_202_000,
    )
    assert "expected 8 or 9 fields, found 4" in str(bad)


class TestApi:
    def test_it_speaks_of_the_type(self) -> None:
        desk = FakeDesk()
        client = client_of(AUTHORISATIONS, desk)
        text = client.get("/openapi.json").text
        assert "payee" not in text
        assert "Send one authorisation" in text
        traffic: Any = client.get("/v1/traffic").json
        assert (traffic["cards"], traffic["merchants"]) == (None, None)
        assert traffic["scenarios"] == list(AUTHORISATIONS.scenarios)
        assert client.put("/v1/traffic", json={"payees": 5}).status_code == 422
        assert client.put("/v1/traffic", json={"cards": 5}).json["cards"] == 5  # type: ignore[index]

    def test_frauds_are_played(self) -> None:
        client = client_of(AUTHORISATIONS, FakeDesk())
        answer: Any = client.post("/v1/scenarios/shared-device/plays").json
        assert (answer["cardId"], answer["merchantId"], answer["transactions"]) == (None, None, 14)
        assert answer["deviceId"].startswith("d2")

    def test_one_by_hand_is_filled_in(self) -> None:
        desk = FakeDesk()
        body = {
            "cardId": 17,
            "merchantId": "m3",
            "merchantCategory": "fuel",
            "entryMode": "CHIP",
            "amount": "9.5",
        }
        answer: Any = client_of(AUTHORISATIONS, desk).post("/v1/transactions", json=body).json
        assert answer["transaction"]["authorisationId"] == "new-id"
        assert answer["transaction"]["authorisedAt"] == answer["transaction"]["ingestionTimestamp"]
        assert desk.records[0].key == b"17"


class TestATypeOfOnesOwn:
    def test_has_replays_and_transactions_by_hand_and_nothing_else(self) -> None:
        desk = FakeDesk()
        client = client_of(trade_of(LOG_IN), desk)
        assert client.get("/v1/scenarios").json == {"items": []}
        assert client.put("/v1/traffic", json={"rate": 0}).status_code == 200
        refused: Any = client.put("/v1/traffic", json={"rate": 5})
        assert refused.status_code == 422
        assert refused.json["errors"][0]["message"].startswith("expected 0: there is no traffic of log-in")
        sent: Any = client.post("/v1/transactions", json={"account": "ann"})
        assert sent.json["transaction"] == {"attempt": "new-id", "at": 1_763_700_000_000, "account": "ann"}
        (line,) = lines_of(opened(io.BytesIO(b"x1,2026-06-01 12:00:00,ann\n"), LOG_IN), LOG_IN)
        assert isinstance(line, Line)
        assert "log-ins" in client.get("/openapi.json").text

    def test_its_traffic_stays_at_rest(self) -> None:
        with pytest.raises(InvalidInput, match="expected 0"):
            change(Traffic(rate=0), {"rate": 1}, trade_of(LOG_IN))
