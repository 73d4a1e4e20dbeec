"""Query parameters, at every endpoint of every service: the unknown and the repeated are refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.contract.support.http_apps import EVERYTHING, SERVICES, Endpoint, app_named, bearer, endpoints
from tripline_http.guards.query_parameters import declared_by

pytestmark = pytest.mark.contract

ENDPOINTS = endpoints()
PAGES = {
    "/",
    "/live",
    "/health",
    "/cases",
    "/cases/<int(min=1, max=9007199254740991):_case>",
    "/cases/snoozes",
    "/rules/backtests",
    "/rules/mappings",
    "/webhooks",
    "/rules",
    "/rules/<int(min=1, max=2147483647):_rule>",
    "/lists",
    "/alerts",
    "/alerts/<uuid:_alert>",
    "/changes",
    "/controls",
    "/rejected",
    "/audit",
    "/keys",
}
# Handed on, query and all, to a service of this list, which refuses.
PROXIES = {"/console/registry/<path:path>", "/console/generator/<path:path>"}
FREE = {
    endpoint for endpoint in ENDPOINTS if endpoint.service == "alert-api" and endpoint.rule in PAGES | PROXIES
}
STRICT = [endpoint for endpoint in ENDPOINTS if endpoint not in FREE]


@pytest.fixture(scope="module")
def apps() -> Mapping[str, Flask]:
    return {service: app_named(service) for service in SERVICES}


def fields_refused(client: FlaskClient, endpoint: Endpoint, query: str) -> list[str]:
    answer = client.open(f"{endpoint.path}?{query}", method=endpoint.method, headers=bearer(EVERYTHING))
    assert (answer.status_code, answer.content_type) == (422, "application/problem+json"), answer.text
    assert answer.json is not None
    assert answer.json["type"] == "urn:tripline:problem:invalid-input"
    return [error["field"] for error in answer.json["errors"]]


def test_all_endpoints_are_looked_at() -> None:
    assert len(STRICT) > 50
    assert {endpoint.rule for endpoint in FREE} == PAGES | PROXIES


@pytest.mark.parametrize("endpoint", STRICT, ids=str)
def test_an_unknown_parameter_is_refused(apps: Mapping[str, Flask], endpoint: Endpoint) -> None:
    client = apps[endpoint.service].test_client()
    assert fields_refused(client, endpoint, "surprise=1") == ["query.surprise"]
    assert fields_refused(client, endpoint, "surprise=1&surprise=2&other") == [
        "query.surprise",
        "query.other",
    ]
    assert "query.Limit" in fields_refused(client, endpoint, "Limit=5")


@pytest.mark.parametrize("endpoint", [e for e in STRICT if declared_by(e.view)], ids=str)
def test_a_repeated_parameter_is_refused(apps: Mapping[str, Flask], endpoint: Endpoint) -> None:
    client = apps[endpoint.service].test_client()
    for name, may_repeat in declared_by(endpoint.view).items():
        if not may_repeat:
            assert fields_refused(client, endpoint, f"{name}=1&{name}=1") == [f"query.{name}"]


@pytest.mark.parametrize(("headers", "status"), [({}, 401), (bearer("viewer"), 403), (bearer("ops"), 422)])
def test_a_wrong_parameter_is_told_to_those_who_may_ask(
    apps: Mapping[str, Flask], headers: dict[str, str], status: int
) -> None:
    answer = apps["registry"].test_client().put("/v1/settings?surprise=1", headers=headers, json={})
    assert answer.status_code == status


def test_a_list_may_be_repeated(apps: Mapping[str, Flask]) -> None:
    answer = (
        apps["alert-api"]
        .test_client()
        .get("/v1/alerts?group=payeeId:1&group=beneficiaryId:2", headers=bearer("viewer"))
    )
    assert answer.status_code == 200


@pytest.mark.parametrize("endpoint", STRICT, ids=str)
def test_what_the_document_declares_is_what_is_taken(
    documents: Mapping[str, Mapping[str, Any]], endpoint: Endpoint
) -> None:
    operation = documents[endpoint.service].get(endpoint.name)
    if operation is None:
        assert not declared_by(endpoint.view)
        return
    documented = {p["name"] for p in operation.get("parameters", []) if p.get("in") == "query"}
    assert documented == set(declared_by(endpoint.view))
    assert "422" in operation["responses"]


@pytest.fixture(scope="module")
def documents(apps: Mapping[str, Flask]) -> Mapping[str, Mapping[str, Any]]:
    """Operations by service, and by method and address."""
    return {service: _operations(app.test_client()) for service, app in apps.items()}


def _operations(client: FlaskClient) -> dict[str, Any]:
    document = client.get("/openapi.json").get_json()
    return {
        f"{method.upper()} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
