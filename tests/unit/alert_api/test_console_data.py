"""The console's way to the rest of the line: whose key goes where, and what a browser is told of what is away."""

from __future__ import annotations

import io
from collections.abc import Callable

import httpx
import pytest
from flask.testing import FlaskClient

from alert_api.adapters.engine_metrics import EngineMetrics
from alert_api.adapters.upstream import Upstream
from alert_api.api.console_data import Line
from tests.unit.alert_api.support.samples import app, key
from tripline_contracts.filters import named_values

VIEWER, AS_VIEWER = key("viewer", "alerts:read", "traffic:read")
OPS, AS_OPS = key("ops", "controls:write", "alerts:read", "traffic:read", "traffic:write")
CLERK, AS_CLERK = key("clerk", "rules:read")
Reply = Callable[[httpx.Request], httpx.Response]
METRICS = """\
# TYPE tripline_engine_lag_records gauge
tripline_engine_lag_records{partition="0"} 5.0
tripline_engine_lag_records{partition="1"} NaN
# TYPE tripline_engine_batch_seconds histogram
tripline_engine_batch_seconds_bucket{le="0.1"} 3.0
tripline_engine_batch_seconds_bucket{le="+Inf"} 3.0
tripline_engine_batch_seconds_count 3.0
tripline_engine_batch_seconds_sum 0.25
# TYPE process_open_fds gauge
process_open_fds 9.0
"""


def silent(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def upstream(reply: Reply) -> Upstream:
    return Upstream("The other service", "http://other", httpx.MockTransport(reply))


def client_of(
    *, registry: Reply = silent, engine: Reply | None = None, generator: Reply | None = None
) -> FlaskClient:
    line = Line(
        upstream(registry),
        EngineMetrics(upstream(engine)) if engine else None,
        upstream(generator) if generator else None,
    )
    return app(line=line, keys=(VIEWER, OPS, CLERK)).test_client()


class Recorder:
    """Answers the same to everything and keeps what it was asked."""

    def __init__(self, answer: httpx.Response) -> None:
        self.asked: list[httpx.Request] = []
        self._answer = answer

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self._answer


def test_a_list_of_any_size_reaches_the_registry_and_more_does_not() -> None:
    registry = Recorder(httpx.Response(200, json={}))
    statuses = [
        client_of(registry=registry)
        .put("/console/registry/lists/watched", headers=AS_CLERK, data=b" " * size)
        .status_code
        for size in (named_values.MAX_LIST_BYTES + 1000, 2 * named_values.MAX_LIST_BYTES + 1)
    ]
    assert statuses == [200, 413]
    assert [len(asked.content) for asked in registry.asked] == [named_values.MAX_LIST_BYTES + 1000]


def test_the_registry_is_asked_with_the_callers_key_and_judges_it() -> None:
    registry = Recorder(
        httpx.Response(200, json={"items": []}, headers={"Link": "</x>", "ETag": '"3"', "Set-Cookie": "a=b"})
    )
    response = client_of(registry=registry).get(
        "/console/registry/rules?limit=100&cursor=c",
        headers={**AS_CLERK, "Cookie": "secret=1", "X-Forwarded-For": "1.2.3.4"},
    )
    assert (response.status_code, response.get_json()) == (200, {"items": []})
    assert (response.headers["Link"], response.headers["ETag"]) == ("</x>", '"3"')
    assert response.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in response.headers
    (asked,) = registry.asked
    assert (asked.url.path, dict(asked.url.params)) == ("/v1/rules", {"limit": "100", "cursor": "c"})
    assert asked.headers["Authorization"] == AS_CLERK["Authorization"]
    assert not {"cookie", "x-forwarded-for"} & set(asked.headers)


def test_a_change_goes_through_with_its_condition_and_its_body() -> None:
    registry = Recorder(
        httpx.Response(412, json={"status": 412}, headers={"Content-Type": "application/problem+json"})
    )
    response = client_of(registry=registry).put(
        "/console/registry/rules/7",
        json={"limit": "5"},
        headers={**AS_CLERK, "If-Match": '"2"'},
    )
    assert (response.status_code, response.content_type) == (412, "application/problem+json")
    (asked,) = registry.asked
    assert (asked.method, asked.url.path, asked.headers["If-Match"]) == ("PUT", "/v1/rules/7", '"2"')
    assert asked.content == b'{"limit": "5"}'


@pytest.mark.parametrize(
    "path",
    [
        "../metrics",
        "rules/../../metrics",
        "%2e%2e/metrics",
        "rules//1",
        "rules/1?x#y%0d",
        "@evil/x",
        "a%20b",
        "keys/.",
        "keys/.a",
        "keys/\u0660",
    ],
)
def test_only_plain_addresses_are_asked_for(path: str) -> None:
    registry = Recorder(httpx.Response(200, json={}))
    client_of(registry=registry).get(f"/console/registry/{path}", headers=AS_CLERK)
    assert all(asked.url.raw_path.startswith(b"/v1/rules/1") for asked in registry.asked)


def test_the_name_of_a_key_may_be_an_address_of_mail() -> None:
    registry = Recorder(httpx.Response(204))
    answer = client_of(registry=registry).delete(
        "/console/registry/keys/ada%40bank.example", headers=AS_CLERK
    )
    assert (answer.status_code, answer.data) == (204, b"")
    assert [asked.url.raw_path for asked in registry.asked] == [b"/v1/keys/ada@bank.example"]


def test_the_registrys_refusal_is_handed_on() -> None:
    refusal = {"Content-Type": "application/problem+json", "WWW-Authenticate": "Bearer"}
    client = client_of(registry=lambda _: httpx.Response(401, json={"status": 401}, headers=refusal))
    response = client.get("/console/registry/rules", headers=AS_VIEWER)
    assert (response.status_code, response.content_type) == (401, "application/problem+json")
    assert response.headers["WWW-Authenticate"] == "Bearer"


class UnreadBody(io.BytesIO):
    """A body that fails the test when anybody reads it."""

    def read(self, size: int | None = -1, /) -> bytes:
        pytest.fail(f"{size} bytes of the body were asked for")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer unknown to everybody"}])
def test_a_body_of_a_caller_without_a_known_key_is_neither_read_nor_handed_on(
    headers: dict[str, str],
) -> None:
    registry = Recorder(httpx.Response(200, json={}))
    response = client_of(registry=registry).put(
        "/console/registry/lists/watched",
        headers=headers,
        input_stream=UnreadBody(),
        content_length=1_000_000,
    )
    assert (response.status_code, response.content_type) == (401, "application/problem+json")
    assert registry.asked == []


def test_without_a_key_nothing_is_asked() -> None:
    other = Recorder(httpx.Response(200, json={}))
    client = client_of(registry=other, engine=other, generator=other)
    for path in ("registry/rules", "generator/traffic", "engine", "transactions"):
        response = client.get(f"/console/{path}")
        assert (response.status_code, response.content_type) == (401, "application/problem+json"), path
    assert other.asked == []


def test_traffic_is_seen_and_changed_with_the_scopes_of_traffic_and_the_generator_gets_the_key() -> None:
    generator = Recorder(httpx.Response(200, json={"rate": 5}))
    client = client_of(generator=generator)
    assert client.get("/console/generator/traffic", headers=AS_VIEWER).get_json() == {"rate": 5}
    assert client.get("/console/generator/traffic", headers=AS_CLERK).status_code == 403
    assert client.put("/console/generator/traffic", headers=AS_VIEWER, json={"rate": 9}).status_code == 403
    assert len(generator.asked) == 1
    assert client.put("/console/generator/traffic", headers=AS_OPS, json={"rate": 9}).status_code == 200
    assert generator.asked[1].content == b'{"rate": 9}'
    assert generator.asked[1].headers["Authorization"] == AS_OPS["Authorization"]


def test_a_key_that_the_generator_does_not_know_signs_nobody_out() -> None:
    client = client_of(generator=Recorder(httpx.Response(401, json={})))
    answer = client.get("/console/generator/traffic", headers=AS_VIEWER)
    assert (answer.status_code, answer.get_json()["type"]) == (
        403,
        "urn:tripline:problem:unknown-to-generator",
    )


def test_the_engines_metrics_come_as_numbers_without_buckets() -> None:
    def engine(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503) if request.url.path == "/readyz" else httpx.Response(200, text=METRICS)

    body = client_of(engine=engine).get("/console/engine", headers=AS_VIEWER).get_json()
    assert body == {
        "ready": False,
        "samples": {
            "lag_records": [{"labels": {"partition": "0"}, "value": 5.0}],
            "batch_seconds_count": [{"labels": {}, "value": 3.0}],
            "batch_seconds_sum": [{"labels": {}, "value": 0.25}],
        },
    }


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(200, content=b"\xff\xfe"), httpx.Response(200, text="a{ 1"), httpx.Response(500)],
)
def test_an_engine_that_talks_nonsense_is_away(answer: httpx.Response) -> None:
    response = client_of(engine=lambda _: answer).get("/console/engine", headers=AS_VIEWER)
    assert (response.status_code, response.content_type) == (503, "application/problem+json")


@pytest.mark.parametrize("path", ["registry/rules", "engine", "generator/traffic"])
def test_what_is_away_is_said_so(path: str) -> None:
    client = client_of(registry=silent, engine=silent, generator=silent)
    response = client.get(f"/console/{path}", headers=AS_VIEWER)
    assert (response.status_code, response.content_type) == (503, "application/problem+json")
    assert response.headers["Retry-After"] == "1"


@pytest.mark.parametrize(
    ("path", "variable"),
    [("engine", "ENGINE_METRICS_URL"), ("generator/traffic", "GENERATOR_URL"), ("transactions", "KAFKA")],
)
def test_what_is_not_connected_is_told_from_what_is_away(path: str, variable: str) -> None:
    response = client_of().get(f"/console/{path}", headers=AS_VIEWER)
    assert (response.status_code, response.get_json()["type"]) == (404, "urn:tripline:problem:not-connected")
    assert f"TRIPLINE_{variable}" in response.get_json()["detail"]
