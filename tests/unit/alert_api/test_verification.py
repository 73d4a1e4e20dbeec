"""Verification over HTTP: who may ask, what is handed to the prover, and what is said without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient

from alert_api.adapters.prover.http_prover import HttpProver
from alert_api.api.console_data import Line
from alert_api.errors import ProverBusy
from tests.unit.alert_api.support.samples import NOWHERE, FakeAlerts, alert, alert_id, app, key

VIEWER, AS_VIEWER = key("viewer", "alerts:read")
CLERK, AS_CLERK = key("clerk", "rules:read")
OUTCOME: dict[str, Any] = {
    "outcome": "match", "differences": [], "derived": None, "engine": "e", "evaluator": "1", "microBatch": 1,
    "read": {"transactions": 3, "selected": 2, "seconds": 0.1},
}  # fmt: skip
PATH = f"/v1/alerts/{alert_id(1)}/verification"

Answer = Callable[[httpx.Request], httpx.Response]


def client_of(answer: Answer | None) -> FlaskClient:
    prover = answer and HttpProver("http://prover", "secret", httpx.MockTransport(answer))
    line = Line(NOWHERE, prover=prover)
    return app(alerts=FakeAlerts(1), line=line, keys=(VIEWER, CLERK), clock=7).test_client()


def test_the_alert_as_it_came_is_handed_on_with_the_prover_s_key() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=OUTCOME)

    client = client_of(answer)
    said = client.post(PATH, headers=AS_VIEWER)
    asked_by = {"alertId": alert_id(1), "verifiedAt": 7, "verifiedBy": "viewer"}
    assert said.get_json() == {**asked_by, **OUTCOME}
    # and it is kept
    listed = client.get(f"/v1/alerts/{alert_id(1)}/verifications", headers=AS_VIEWER).get_json()["items"]
    kept = ("outcome", "differences", "engine", "evaluator")
    assert listed == [{**asked_by, **{name: OUTCOME[name] for name in kept}}]
    (request,) = asked
    assert (request.url.path, request.headers["Authorization"]) == ("/v1/verifications", "Bearer secret")
    assert json.loads(request.content) == {"alert": alert(1)}


@pytest.mark.parametrize(
    ("status", "reason", "expected", "kind"),
    [
        (409, "history-missing", 409, "no-proof-history-missing"),
        (404, "nothing-there", 404, "no-proof-nothing-there"),
        (422, "too-much", 422, "no-proof-too-much"),
        (503, "busy", 503, "prover-busy"),
        (503, "unavailable", 503, "prover-unavailable"),
        (401, "key", 503, "prover-unavailable"),
        (500, "?", 503, "prover-unavailable"),
    ],
)
def test_no_proof(status: int, reason: str, expected: int, kind: str) -> None:
    body = {"reason": reason, "detail": "since Monday"}
    said = client_of(lambda _: httpx.Response(status, json=body)).post(PATH, headers=AS_VIEWER)
    assert (said.status_code, kind in said.get_json()["type"]) == (expected, True)
    assert "since Monday" in said.get_json()["detail"]
    assert ("Retry-After" in said.headers) == (expected == 503)


def test_nobody_answers() -> None:
    def silent(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    for answer in (silent, lambda _: httpx.Response(200, content=b"no JSON")):
        said = client_of(answer).post(PATH, headers=AS_VIEWER)
        assert (said.status_code, "does not answer" in said.get_json()["detail"]) == (503, True)


def test_without_a_prover_it_says_what_to_do() -> None:
    said = client_of(None).post(PATH, headers=AS_VIEWER)
    assert said.status_code == 503
    assert "run `tripline-engine prover`" in said.get_json()["detail"]


def test_an_alert_that_is_not_there_and_who_may_not_ask() -> None:
    client = client_of(lambda _: httpx.Response(200, json=OUTCOME))
    assert client.post(f"/v1/alerts/{alert_id(2)}/verification", headers=AS_VIEWER).status_code == 404
    assert client.post(PATH, headers=AS_CLERK).status_code == 403
    assert client.post(PATH).status_code == 401


def test_more_than_two_at_once_are_refused_without_being_asked() -> None:
    prover = HttpProver(
        "http://prover", "secret", httpx.MockTransport(lambda _: httpx.Response(200, json={}))
    )
    refused: list[ProverBusy] = []

    def nested(depth: int) -> Any:
        def answer(_: httpx.Request) -> httpx.Response:
            try:
                nested(depth + 1)
            except ProverBusy as error:
                refused.append(error)
            return httpx.Response(200, json={})

        prover._client._transport = httpx.MockTransport(answer)
        return prover.verify({})

    nested(1)
    assert len(refused) == 1
