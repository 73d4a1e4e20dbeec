"""The HTTP kit on a small app: every error is a problem, keys have scopes, versions are ETags."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn

import marshmallow as ma
import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from tripline_http.application import Access, new_app
from tripline_http.auth import current_actor
from tripline_http.errors import ProblemError
from tripline_http.etags import IfMatch, etag_of
from tripline_http.fields import BoundedInteger, QueryInteger
from tripline_http.keys.key_file import ApiKey
from tripline_http.links import next_link
from tripline_http.openapi import install_api, new_blueprint, openapi_text
from tripline_http.problems import problem_response

PROBLEM = "application/problem+json"
WRITER = {"Authorization": "Bearer writer-key-for-tests"}
VERSION = 3


class Query(ma.Schema):
    limit = QueryInteger(1, 100, load_default=50)
    cursor = ma.fields.String()


class Body(ma.Schema):
    amount = BoundedInteger(0, 10, required=True)


def small_app() -> tuple[Flask, list[str]]:
    """An app with one view of each kind, and the reasons for which it is not ready."""
    reasons: list[str] = []

    def ready() -> None:
        if reasons:
            raise RuntimeError(reasons[0])

    keys = [
        ApiKey(name, hashlib.sha256(f"{name}-key-for-tests".encode()).hexdigest(), frozenset(scopes))
        for name, scopes in (("writer", ["rules:read", "rules:write"]), ("reader", ["rules:read"]))
    ]
    app = new_app(
        "kit",
        access=Access(keys, hosts=None),
        registry=CollectorRegistry(),
        checks={"thing": ready},
        max_body_bytes=1000,
    )
    api = install_api(app, title="Kit", version="1", description="For tests.")
    blueprint = new_blueprint("things", __name__, "Things")

    @blueprint.route("/things", methods=["GET"])
    @blueprint.requires("rules:read")
    @blueprint.arguments(Query, location="query")
    @blueprint.response(200)
    def listing(query: dict[str, int]) -> Any:
        return jsonify(limit=query["limit"], actor=current_actor()), 200, next_link("abc")

    @blueprint.route("/things", methods=["PUT"])
    @blueprint.requires("rules:write")
    @blueprint.if_match
    @blueprint.arguments(Body)
    @blueprint.response(200)
    def change(if_match: IfMatch, body: dict[str, int]) -> Any:
        if_match.require(VERSION)
        return jsonify(body), 200, {"ETag": etag_of(VERSION)}

    @blueprint.route("/broken", methods=["GET"])
    def broken() -> NoReturn:
        raise ZeroDivisionError("a secret detail")

    api.register_blueprint(blueprint)
    app.extensions["document"] = lambda: json.loads(openapi_text(api))
    return app, reasons


@pytest.fixture
def app() -> Flask:
    return small_app()[0]


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "kind"),
    [
        ("GET", "/nowhere", {}, None, 404, "about:blank"),
        ("DELETE", "/things", WRITER, None, 405, "about:blank"),
        ("GET", "/broken", {}, None, 500, "about:blank"),
        ("GET", "/things", {}, None, 401, "urn:tripline:problem:unauthenticated"),
        ("GET", "/things", {"Authorization": "Bearer other"}, None, 401, "urn:tripline:problem:unauthenticated"),
        ("GET", "/things", {"Authorization": "Basic writer-key-for-tests"}, None, 401,
         "urn:tripline:problem:unauthenticated"),
        ("PUT", "/things", {"Authorization": "Bearer reader-key-for-tests"}, b"{}", 403,
         "urn:tripline:problem:insufficient-scope"),
        ("GET", "/things?limit=0", WRITER, None, 422, "urn:tripline:problem:invalid-input"),
        ("GET", "/things?limit=%D9%A5", WRITER, None, 422, "urn:tripline:problem:invalid-input"),
        ("PUT", "/things", WRITER, b'{"amount": 1}', 428, "urn:tripline:problem:if-match-required"),
        ("PUT", "/things", WRITER | {"If-Match": "3"}, b'{"amount": 1}', 400, "urn:tripline:problem:bad-request"),
        ("PUT", "/things", WRITER | {"If-Match": '"2"'}, b'{"amount": 1}', 412, "urn:tripline:problem:stale-version"),
        ("PUT", "/things", WRITER | {"If-Match": 'W/"3"'}, b'{"amount": 1}', 412,
         "urn:tripline:problem:stale-version"),
        ("PUT", "/things", WRITER | {"If-Match": "*"}, b'{"amount": "1"}', 422, "urn:tripline:problem:invalid-input"),
        ("PUT", "/things", WRITER | {"If-Match": "*"}, b'{"amount": true}', 422, "urn:tripline:problem:invalid-input"),
        ("PUT", "/things", WRITER | {"If-Match": "*"}, b'{"amount": 1', 400, "urn:tripline:problem:bad-request"),
        ("PUT", "/things", WRITER | {"If-Match": "*"}, b'{"amount": NaN}', 400, "urn:tripline:problem:bad-request"),
        ("PUT", "/things", WRITER | {"If-Match": "*"}, b" " * 1001, 413, "about:blank"),
    ],
)  # fmt: skip
def test_every_error_is_a_problem(
    client: FlaskClient,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None,
    status: int,
    kind: str,
) -> None:
    answer = client.open(path, method=method, headers=headers, data=body, content_type="application/json")
    assert answer.status_code == status, answer.text
    assert answer.content_type == PROBLEM
    problem = json.loads(answer.text)
    assert (problem["status"], problem["type"]) == (status, kind)
    assert problem["requestId"] == answer.headers["X-Request-Id"]
    assert "secret" not in answer.text


def test_errors_keep_the_headers_that_carry_meaning(client: FlaskClient) -> None:
    assert set(client.delete("/things").headers["Allow"].split(", ")) >= {"GET", "PUT"}
    assert client.get("/things").headers["WWW-Authenticate"] == 'Bearer realm="tripline"'
    stale = client.put("/things", headers=WRITER | {"If-Match": '"2"'}, json={"amount": 1})
    assert (stale.headers["ETag"], stale.get_json()["currentVersion"]) == ('"3"', 3)


@pytest.mark.parametrize("if_match", ["*", '"3"', '"1", "3"', ' "3" '])
def test_the_current_version_passes(client: FlaskClient, if_match: str) -> None:
    answer = client.put("/things", headers=WRITER | {"If-Match": if_match}, json={"amount": 1.0})
    assert (answer.status_code, answer.get_json(), answer.headers["ETag"]) == (200, {"amount": 1}, '"3"')


def test_the_actor_is_the_key_and_links_are_relative(client: FlaskClient) -> None:
    answer = client.get("/things?limit=7&cursor=old", headers=WRITER | {"Host": "evil.example"})
    assert answer.get_json() == {"limit": 7, "actor": "writer"}
    assert answer.headers["Link"] == '</things?limit=7&cursor=abc>; rel="next"'


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1.2_3", True), ("a b", False), ("x" * 65, False), ("", False)]
)
def test_a_request_id_is_taken_where_it_is_harmless(client: FlaskClient, given: str, kept: bool) -> None:
    request_id = client.get("/livez", headers={"X-Request-Id": given}).headers["X-Request-Id"]
    assert (request_id == given) is kept
    assert 1 <= len(request_id) <= 64


def test_ready_means_that_all_checks_pass() -> None:
    app, reasons = small_app()
    client = app.test_client()
    assert client.get("/readyz").get_json() == {"status": "ok", "checks": ["thing"]}
    reasons.append("password is x")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()["failed"]) == (503, ["thing"])
    assert "password" not in answer.text
    assert client.get("/livez").status_code == 200


def test_requests_are_measured_by_route_and_never_by_path(client: FlaskClient) -> None:
    for path in ("/things", "/nowhere/1", "/nowhere/2"):
        client.get(path, headers=WRITER)
    text = client.get("/metrics").text
    assert 'tripline_http_request_seconds_count{method="GET",route="/things",status="200"} 1.0' in text
    assert 'tripline_http_request_seconds_count{method="GET",route="none",status="404"} 2.0' in text


def test_the_document_says_what_the_decorators_do(app: Flask) -> None:
    operations = app.extensions["document"]()["paths"]["/things"]
    assert {"401", "403", "412", "428"} <= set(operations["put"]["responses"])
    assert "412" not in operations["get"]["responses"]
    assert operations["put"]["x-required-scope"] == "rules:write"
    (if_match,) = [p for p in operations["put"]["parameters"] if p.get("name") == "If-Match"]
    assert if_match["required"] is True


def test_a_view_without_a_scope_has_no_actor(app: Flask) -> None:
    with app.test_request_context("/"), pytest.raises(RuntimeError, match="no actor"):
        current_actor()


def test_a_problem_s_own_members_stand_beside_the_standard_ones() -> None:
    answer = problem_response(ProblemError(409, "wrong-state", "Paused.", extra={"type": "other", "more": 1}))
    assert json.loads(answer.get_data()) == {
        "type": "urn:tripline:problem:wrong-state",
        "title": "Wrong state",
        "status": 409,
        "detail": "Paused.",
        "more": 1,
    }
