"""Rejected records over the API, in memory: what is asked of the store, and who may decide what, once."""

from __future__ import annotations

import base64
import json
import threading
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.api.application import Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.domain.rejected_records import Decision, Delivery, RecordPlace, state_of
from alert_api.service.rejected.desk import MAX_VALUE_BYTES, RejectedFilter
from alert_api.service.sessions import SessionDesk
from tests.unit.alert_api.support.fake_cases import no_cases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.fake_views import FakeShadows, FakeViews
from tests.unit.alert_api.support.rejected_samples import FakeRejected, rejected
from tests.unit.alert_api.support.samples import NOWHERE, FakeAlerts, FakeOverview, key
from tripline_contracts import event_type_loader
from tripline_http.application import Access

OPS, AS_OPS = key("ops", "alerts:read", "controls:write")
EVE, AS_EVE = key("eve", "alerts:read", "controls:write")
VIEWER, AS_VIEWER = key("viewer", "alerts:read")

GOOD = json.dumps(
    {"transactionId": "t-1", "eventTime": 1_763_641_200_000, "payeeId": 25, "beneficiaryId": 12,
     "paymentAmount": "0.01", "paymentType": "CSH"}
)  # fmt: skip
BACKFILL = "9f0c3a52-9f43-4b6c-8e0e-6f5b0a1c2d3e"


@pytest.fixture
def records() -> FakeRejected:
    return FakeRejected(
        rejected(1, b'{"transactionId": '),
        rejected(2, GOOD.encode(), cause="too_late"),
        rejected(3, b"\xff\x00", length=9_000_000, cause="oversized"),
    )


@pytest.fixture
def client(records: FakeRejected) -> FlaskClient:
    built = build(
        stores=Stores(
            FakeAlerts(), FakeOverview(), no_cases(), records, FakePerformance(), FakeViews(), FakeShadows()
        ),
        line=Line(NOWHERE),
        doors=Doors(Access((OPS, EVE, VIEWER)), SessionDesk(FakeSessions(), FernetSeal(), lambda: 5000)),
        registry=CollectorRegistry(),
        event_type=event_type_loader.load(),
        clock=lambda: 5000,
        streaming=Streaming(threading.Event()),
    )
    return built.app.test_client()


def send(client: FlaskClient, record: str, headers: dict[str, str] = AS_OPS, **body: Any) -> Any:
    given = {"reason": "a quote was missing", **body}
    return client.post(f"/v1/rejected-records/{record}/send-again", headers=headers, json=given)


def fields(response: Any) -> list[str]:
    assert response.status_code == 422, response.text
    return [error["field"] for error in response.get_json()["errors"]]


def test_filters_reach_the_store_and_the_link_leads_on(client: FlaskClient, records: FakeRejected) -> None:
    query = "reason=too_late&state=open&from=1&to=2&limit=2"
    page = client.get(f"/v1/rejected-records?{query}", headers=AS_VIEWER)
    assert records.asked == (RejectedFilter("too_late", "open", 1, 2), None, 2)
    assert [item["id"] for item in page.get_json()["items"]] == ["0-1", "0-2"]
    assert "valueBase64" not in page.get_json()["items"][0]
    address = page.headers["Link"].removeprefix("<").partition(">")[0]
    assert client.get(address, headers=AS_VIEWER).status_code == 200
    assert records.asked[1].place == RecordPlace(0, 2)
    assert client.get(f"{address}&state=sent", headers=AS_VIEWER).status_code in (400, 422)


def test_a_record_comes_with_its_bytes(client: FlaskClient) -> None:
    first, cut = (client.get(f"/v1/rejected-records/0-{n}", headers=AS_VIEWER).get_json() for n in (1, 3))
    assert base64.b64decode(first["valueBase64"]) == b'{"transactionId": '
    assert (first["text"], first["isWhole"], first["state"]) == ('{"transactionId": ', True, "open")
    assert (cut["text"], cut["isWhole"], cut["length"]) == (None, False, 9_000_000)


def test_they_are_counted(client: FlaskClient) -> None:
    items = client.get("/v1/rejected-records/counts", headers=AS_VIEWER).get_json()["items"]
    assert {(item["reason"], item["state"], item["count"]) for item in items} == {
        ("unparseable", "open", 1), ("too_late", "open", 1), ("oversized", "open", 1),
    }  # fmt: skip


@pytest.mark.parametrize("record", ["0-99", "0-01", "x", "9999999999-1", "0-1-2"])
def test_what_is_not_there_is_not_found(client: FlaskClient, record: str) -> None:
    assert client.get(f"/v1/rejected-records/{record}", headers=AS_VIEWER).status_code == 404
    assert send(client, record, value=GOOD).status_code == 404


def test_a_correction_is_queued_byte_by_byte(client: FlaskClient, records: FakeRejected) -> None:
    spaced = GOOD.replace("0.01", "0.0100") + "  "
    answer = send(client, "0-1", value=spaced, backfillId=BACKFILL).get_json()
    assert (answer["state"], answer["sentText"]) == ("queued", spaced)
    assert records.rows[RecordPlace(0, 1)].decision == Decision(
        "sendAgain", "ops", "a quote was missing", 5000, spaced.encode(), BACKFILL
    )


def test_without_a_value_it_goes_as_it_came(client: FlaskClient) -> None:
    assert send(client, "0-2", backfillId=BACKFILL).get_json()["sentText"] == GOOD


@pytest.mark.parametrize(
    ("record", "value", "said"),
    [
        ("0-1", '{"transactionId": ', "not JSON"),
        ("0-1", "[]", "is not of type 'object'"),
        ("0-1", GOOD.replace('"CSH"', '"GOLD"'), "$.paymentType"),
        ("0-1", GOOD.replace('"transactionId"', '"transactionid"'), "'transactionId' is a required property"),
        ("0-1", GOOD.replace("}", ', "eventTime": 1}'), "eventTime"),
        ("0-1", GOOD + " " * MAX_VALUE_BYTES, "Length must be"),
        ("0-1", GOOD[:-1] + f', "note": "{"é" * 300_000}"}}', "expected at most"),
        ("0-1", None, "not JSON"),
        ("0-3", None, "only the beginning"),
    ],
)
def test_what_the_engine_could_not_read_is_not_sent(
    client: FlaskClient, records: FakeRejected, record: str, value: str | None, said: str
) -> None:
    response = send(client, record, value=value)
    assert fields(response) == ["value"]
    assert said in response.get_json()["errors"][0]["message"]
    assert all(row.decision is None for row in records.rows.values())


def test_a_reason_is_asked_for(client: FlaskClient) -> None:
    address = "/v1/rejected-records/0-1/discard"
    assert fields(client.post(address, headers=AS_OPS, json={})) == ["reason"]
    assert fields(client.post(address, headers=AS_OPS, json={"reason": "a\u202eb"})) == ["reason"]
    assert fields(send(client, "0-1", value=GOOD, backfillId="no id")) == ["backfillId"]
    assert fields(send(client, "0-1", value=GOOD, key="x")) == ["key"]


def test_there_is_one_decision(client: FlaskClient) -> None:
    discard = "/v1/rejected-records/0-1/discard"
    first = client.post(discard, headers=AS_OPS, json={"reason": "a test of theirs"})
    assert (first.status_code, first.get_json()["state"]) == (200, "discarded")
    again = client.post(discard, headers=AS_OPS, json={"reason": "once more"})
    assert again.get_json() == first.get_json()
    for refused in (
        send(client, "0-1", value=GOOD),
        client.post(discard, headers=AS_EVE, json={"reason": "mine"}),
    ):
        body = refused.get_json()
        assert (refused.status_code, body["decidedBy"], body["decidedAt"]) == (409, "ops", 5000)
        assert body["detail"] == "ops discarded this record first."


def test_who_only_looks_decides_nothing(client: FlaskClient, records: FakeRejected) -> None:
    assert send(client, "0-1", AS_VIEWER, value=GOOD).status_code == 403
    discard = "/v1/rejected-records/0-1/discard"
    assert client.post(discard, headers=AS_VIEWER, json={"reason": "x"}).status_code == 403
    assert records.rows[RecordPlace(0, 1)].decision is None


def test_states() -> None:
    again = Decision("sendAgain", "ops", "x", 1, b"{}")
    assert state_of(None, None) == "open"
    assert state_of(Decision("discard", "ops", "x", 1), None) == "discarded"
    assert state_of(again, None) == "queued"
    assert state_of(again, Delivery(RecordPlace(0, 7), 2)) == "sent"
