"""The API on fakes; on a real broker it is tested in tests/integration/test_generator.py."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from tests.unit.demo.generator.fakes import FakeDesk, FakeEngine, FakeOutlet, FakeTime
from tripline_contracts import event_type_loader
from tripline_demo.generator.api.application import description, new_generator_app
from tripline_demo.generator.api.context import Context
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.output.sender import Clocks, Sender
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.plays import Plays
from tripline_demo.generator.recordings.replays import Replays
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.traffic import Traffic
from tripline_http.application import Access
from tripline_http.bind_address import KnownHosts
from tripline_http.keys.key_file import ApiKey

COMMITTED = Path(__file__).parents[4] / "contracts" / "openapi" / "generator.json"
KEYS = {
    "sender": ("key-for-tests-of-sender", ("traffic:read", "traffic:write")),
    "watcher": ("key-for-tests-of-watcher", ("traffic:read",)),
    "analyst": ("key-for-tests-of-analyst", ("rules:write", "controls:write", "alerts:ack")),
}
PAYMENT = {"payeeId": 25, "paymentAmount": "1.50", "paymentType": "CSH"}


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def client(desk: FakeDesk) -> FlaskClient:
    return client_of(PAYMENTS, desk)


def client_of(trade: Trade, desk: FakeDesk) -> FlaskClient:
    """With a key that may do everything here."""
    client = app_of(trade, desk).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {KEYS['sender'][0]}"
    return client


def app_of(trade: Trade, desk: FakeDesk, keys: Sequence[ApiKey] | None = None) -> Flask:
    """Under these keys, or those of this module."""
    time, outlet = FakeTime(), FakeOutlet()
    clocks = Clocks(time.steady, time.wall)
    sender = Sender(trade, Traffic(), outlet, clocks, lambda: Renderer("run", trade))
    replays = Replays(trade.event_type, FakeOutlet, time.wall, lambda _: FakeEngine())
    plays = Plays(trade, 1, FakeOutlet, clocks, lambda: Renderer("play", trade), lambda: "play-id")
    context = Context(trade, sender, desk, replays, plays, time.wall, lambda: "new-id")
    changes = [
        ApiKey(name, hashlib.sha256(key.encode()).hexdigest(), frozenset(scopes))
        for name, (key, scopes) in KEYS.items()
    ]
    access = Access(changes if keys is None else keys, KnownHosts(frozenset({("demo.example", None)})))
    return new_generator_app(context, access, CollectorRegistry(), {})


def test_the_committed_description_is_what_the_app_writes() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == description(event_type_loader.load()), (
        "regenerate it: .venv/bin/tripline-generator openapi > contracts/openapi/generator.json"
    )


def test_traffic_is_shown_and_changed(client: FlaskClient) -> None:
    changed = client.put("/v1/traffic", json={"rate": 17, "scenarios": ["money-mule"], "lateShare": 0.25})
    assert changed.status_code == 200
    assert client.get("/v1/traffic").json == changed.json
    assert changed.json == {
        "rate": 17, "scenarios": ["money-mule"], "lateShare": 0.25, "duplicateShare": 0, "brokenShare": 0, "seed": 1,
        "payees": None, "beneficiaries": None, "achievedRate": 0.0,
        "counters": {"sent": 0, "late": 0, "duplicate": 0, "broken": 0, "failed": 0},
    }  # fmt: skip


def test_a_wrong_change_changes_nothing(client: FlaskClient) -> None:
    answer = client.put("/v1/traffic", json={"rate": 5, "seed": -1})
    assert answer.status_code == 422
    assert answer.json is not None
    assert [error["field"] for error in answer.json["errors"]] == ["seed"]
    assert client.get("/v1/traffic").json["rate"] == 200  # type: ignore[index]


def test_what_a_payment_leaves_out_is_filled_in(client: FlaskClient, desk: FakeDesk) -> None:
    answer = client.post("/v1/transactions", json=PAYMENT)
    assert answer.status_code == 202
    assert answer.json == {
        "transaction": {
            "transactionId": "new-id", "eventTime": 1_763_700_000_000, "payeeId": "25", "beneficiaryId": None,
            "paymentAmount": "1.5", "paymentType": "CSH", "ingestionTimestamp": 1_763_700_000_000,
        },
        "topic": "transactions.v1", "partition": 1, "offset": 0,
    }  # fmt: skip
    assert desk.records[0].key == b"25"


def test_a_payment_of_a_backfill_says_so(client: FlaskClient, desk: FakeDesk) -> None:
    backfill_id = "7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04"
    assert client.post(f"/v1/transactions?backfill={backfill_id}", json=PAYMENT).status_code == 202
    assert client.post("/v1/transactions", json=PAYMENT).status_code == 202
    assert [dict(record.headers).get("backfill") for record in desk.records] == [backfill_id.encode(), None]


def test_an_amount_is_never_a_float_on_the_way(client: FlaskClient) -> None:
    body = '{"paymentAmount":123456789012345678.123456,"paymentType":"CRD"}'
    answer = client.post("/v1/transactions", data=body, content_type="application/json")
    assert answer.json is not None
    assert answer.json["transaction"]["paymentAmount"] == "123456789012345678.123456"


def test_a_wrong_payment_names_its_fields(client: FlaskClient, desk: FakeDesk) -> None:
    answer = client.post("/v1/transactions", json={**PAYMENT, "paymentAmount": "ten", "payeId": 1})
    assert answer.status_code == 422
    assert answer.json is not None
    assert [error["field"] for error in answer.json["errors"]] == ["payeId", "paymentAmount"]
    assert desk.records == []


@pytest.mark.parametrize("path", ["/v1/transactions", "/v1/replays"])
def test_a_backfill_that_cannot_be_one_is_named(client: FlaskClient, desk: FakeDesk, path: str) -> None:
    answer = client.post(f"{path}?backfill=may", json=PAYMENT)
    assert answer.status_code == 422
    assert answer.json is not None
    assert [error["field"] for error in answer.json["errors"]] == ["query.backfill"]
    assert desk.records == []


def test_without_kafka_the_answer_says_so(client: FlaskClient, desk: FakeDesk) -> None:
    desk.broken = True
    answer = client.post("/v1/transactions", json=PAYMENT)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


@pytest.mark.parametrize("path", ["/v1/traffic/", "/v1/nothing", "/v1/replays/not-an-id"])
def test_what_is_not_there_is_a_problem(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.content_type) == (404, "application/problem+json")


def test_frauds_are_listed_and_played(client: FlaskClient) -> None:
    listed = client.get("/v1/scenarios").json["items"]  # type: ignore[index]
    assert [item["name"] for item in listed] == [
        "beneficiary-burst",
        "slow-drip",
        "many-payers",
        "card-testing",
    ]
    answer = client.post("/v1/scenarios/many-payers/plays")
    assert answer.status_code == 202
    assert answer.json is not None
    assert (answer.json["playId"], answer.json["transactions"], answer.json["payeeId"]) == (
        "play-id",
        24,
        None,
    )
    assert answer.json["beneficiaryId"].isdigit()
    assert [play["playId"] for play in client.get("/v1/plays").json["items"]] == ["play-id"]  # type: ignore[index]


def test_a_fraud_that_is_none_is_not_found(client: FlaskClient) -> None:
    answer = client.post("/v1/scenarios/nothing/plays")
    assert (answer.status_code, answer.content_type) == (404, "application/problem+json")
