"""Who the generator obeys: holders of a key with the scope, by a name of its own, from no page of another origin."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.unit.demo.generator.fakes import FakeDesk
from tests.unit.demo.generator.test_api import KEYS, PAYMENT, app_of
from tripline_demo.generator.payments.trade import PAYMENTS

FOREIGN_HOSTS = (
    "attacker.example", "attacker.example:8083", "127.0.0.1.attacker.example", "localhost.attacker.example",
    "10.0.0.1", "0.0.0.0", "a@localhost", "localhost/x", "[::2]:8083", "[", "localhost:port", "",
)  # fmt: skip
OWN_HOSTS = (
    "localhost",
    "LOCALHOST:8083",
    "127.0.0.1:8083",
    "127.9.9.9",
    "[::1]:8083",
    "demo.example:1",
    "Demo.Example",
)
PLAY = "/v1/scenarios/many-payers/plays"


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def anybody(desk: FakeDesk) -> FlaskClient:
    return app_of(PAYMENTS, desk).test_client()


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name][0]}"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/traffic"), ("PUT", "/v1/traffic"), ("POST", "/v1/transactions"), ("POST", "/v1/replays"),
        ("GET", "/v1/scenarios"), ("GET", "/v1/plays"), ("POST", PLAY),
    ],
)  # fmt: skip
def test_a_key_with_the_scope_is_needed(anybody: FlaskClient, desk: FakeDesk, method: str, path: str) -> None:
    statuses = [
        anybody.open(
            path, method=method, headers=headers, json=PAYMENT if method != "GET" else None
        ).status_code
        for headers in ({}, {"Authorization": "Bearer wrong"}, bearer("analyst"), bearer("watcher"))
    ]
    assert statuses == [401, 401, 403, 200 if method == "GET" else 403]
    assert desk.records == []


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused(anybody: FlaskClient, host: str) -> None:
    for path in ("/v1/traffic", "/openapi.json"):
        answer = anybody.get(path, headers={"Host": host, **bearer("sender")})
        assert (answer.status_code, answer.json["type"]) == (421, "urn:tripline:problem:unknown-host"), path  # type: ignore[index]
        assert answer.json["errors"][0]["field"] == "header.Host"  # type: ignore[index]


@pytest.mark.parametrize("host", OWN_HOSTS)
def test_it_answers_to_its_own_names(anybody: FlaskClient, host: str) -> None:
    for origin in (
        {},
        {"Origin": f"http://{host}"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ):
        answer = anybody.get("/v1/traffic", headers={"Host": host, **origin, **bearer("sender")})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),  # another port of this machine is the same site to a browser
        ("Origin", "http://attacker.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost:8082"),
        ("Origin", "file://localhost"),
        ("Origin", "http://["),
    ],
)
def test_no_page_of_another_origin_is_obeyed(
    anybody: FlaskClient, desk: FakeDesk, header: str, value: str
) -> None:
    """Also where the request has no body that a preflight would ask about first."""
    headers = {header: value, **bearer("sender")}
    for method, path, body in (
        ("POST", PLAY, None),
        ("PUT", "/v1/traffic", {"rate": 9}),
        ("POST", "/v1/transactions", PAYMENT),
    ):
        answer = anybody.open(path, method=method, headers=headers, json=body)
        assert (answer.status_code, answer.json["type"]) == (403, "urn:tripline:problem:foreign-origin")  # type: ignore[index]
        assert answer.json["errors"][0]["field"] == f"header.{header}"  # type: ignore[index]
    assert desk.records == []
    assert anybody.get("/v1/plays", headers=bearer("sender")).json == {"items": []}
