"""Text that Postgres cannot hold (U+0000, lone surrogates), wherever a request has text: never an error of ours.

Every endpoint of every service is asked over a real database, with such text in address, query, cursor, headers and
body.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_alerts import open_pool as open_alerts
from rules_registry.adapters.postgres import open_pool as open_registry
from rules_registry.api.application import create_app
from tests.contract.support.http_apps import EVERYTHING, Endpoint, app_named, bearer, endpoints, keys
from tests.registry import DEFINITION
from tests.servers import PostgresServer
from tests.unit.alert_api.support import samples
from tests.unit.demo.generator.test_api import PAYMENT
from tripline_contracts import event_type_loader
from tripline_http import cursors
from tripline_http.application import Access
from tripline_http.guards.query_parameters import declared_by

pytestmark = pytest.mark.integration

TEXTS = st.text(st.sampled_from("\x00\ud800\udfffa\u00e9\u202e\uffff\U0001f600\n"), min_size=1, max_size=6)
HEADERS = (
    "If-Match",
    "Idempotency-Key",
    "Last-Event-ID",
    "X-Request-Id",
    "Authorization",
    "Content-Type",
    "Origin",
)
FILTER = {"operator": "in", "field": "payeeId", "values": ["25"]}
COMMAND = {"command": "CLEAR_RULE", "ruleId": 1, "reason": "why"}
VOID = {"command": "VOID_TRANSACTION", "transactionId": "t", "eventTime": 1, "reason": "why"}
BODIES: Mapping[str, tuple[Any, ...]] = {
    "POST /v1/rules": (dict(DEFINITION), {**DEFINITION, "filter": FILTER}),
    "PUT /v1/rules/{rule_id}": (dict(DEFINITION),),
    "POST /v1/rules/import": (
        [{"ruleId": 1, "ruleState": "ACTIVE", **DEFINITION}],
        {"ruleId": 1, "ruleState": "PAUSE"},
    ),
    "PUT /v1/lists/{name}": ({"values": ["a", "b"]},),
    "PUT /v1/parameters/{name}": ({"value": "1"},),
    "POST /v1/control-commands": (COMMAND, VOID),
    "POST /v1/alerts/{alert_id}/acknowledge": ({"comment": "mine"},),
    "POST /v1/transactions": (PAYMENT,),
}


@pytest.fixture(scope="module")
def apps(postgres: PostgresServer, migrated_database: str) -> Iterator[Mapping[str, Flask]]:
    registry = open_registry(postgres.login(migrated_database, "tripline_registry_api"), size=2)
    alerts = open_alerts(postgres.login(migrated_database, "tripline_alert_api"), 2)
    yield {
        "registry": create_app(registry, Access(keys()), CollectorRegistry(), event_type_loader.load())[0],
        "alert-api": samples.app(
            alerts=PostgresAlerts(alerts),
            overview=PostgresAlertEvents(alerts),
            keys=keys(),
        ),
        "generator": app_named("generator"),
    }
    registry.close()
    alerts.close()


@pytest.fixture
def any_cursor_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checksum is no secret: whoever knows it makes a cursor of anything."""
    monkeypatch.setattr(cursors, "_check", lambda *_: bytes(8))


def statuses(app: Flask, endpoint: Endpoint, draw: st.DataObject) -> int:
    request = draw.draw(st.sampled_from(["path", "query", "cursor", "header", "body", "raw body"]))
    text = draw.draw(TEXTS)
    path, query, overrides, body = endpoint.path, "", {}, b""
    content_type = "application/json"
    raw = text.encode("utf-8", "surrogatepass")
    if request == "path":
        path = endpoint.path_with(quote(raw, safe=""))
    elif request == "query":
        name = draw.draw(st.sampled_from([*declared_by(endpoint.view), quote(raw)]))
        query = f"{name}={quote(raw)}"
    elif request == "cursor":
        keys = draw.draw(st.lists(TEXTS | st.integers(-1, 2**70), min_size=1, max_size=2))
        query = "cursor=" + base64.urlsafe_b64encode(bytes(8) + json.dumps(keys).encode()).decode().rstrip(
            "="
        )
    elif request == "header":
        name = draw.draw(st.sampled_from(HEADERS)).upper().replace("-", "_")
        overrides = {
            name if name == "CONTENT_TYPE" else f"HTTP_{name}": raw.decode("latin-1").replace("\n", " ")
        }
    elif request == "body":
        bodies = BODIES.get(endpoint.name, ({"name": "x"},))
        changed = _somewhere(draw.draw(st.sampled_from(bodies)), text, draw)
        body = json.dumps(changed).encode()
        if endpoint.name == "POST /v1/rules/import":
            content_type = draw.draw(st.sampled_from([content_type, "application/x-ndjson", "text/plain"]))
    else:
        plain = f"(1),(active),(payeeId),(),(payment{text}),(SUM),(>),(20000000),(43200)"
        body = draw.draw(
            st.sampled_from([raw, b'{"name": "' + raw + b'"}', plain.encode("utf-8", "surrogatepass")])
        )
        content_type = draw.draw(
            st.sampled_from([content_type, "application/x-ndjson", "text/plain", "text/csv"])
        )
    headers = {**bearer(EVERYTHING), "Content-Type": content_type}
    if request != "header":
        headers["If-Match"] = "*"
    answer = app.test_client().open(
        f"{path}?{query}", method=endpoint.method, data=body, headers=headers, environ_overrides=overrides
    )
    answer.close()
    return answer.status_code


def _somewhere(value: Any, text: str, draw: st.DataObject) -> Any:
    """The value with the text in the place of one text or one name in it."""
    if isinstance(value, dict) and value:
        name = draw.draw(st.sampled_from(sorted(value)))
        if draw.draw(st.booleans()):
            return {**value, name: _somewhere(value[name], text, draw)}
        return {(text if key == name else key): inner for key, inner in value.items()}
    if isinstance(value, list) and value:
        index = draw.draw(st.integers(0, len(value) - 1))
        return [
            _somewhere(inner, text, draw) if number == index else inner for number, inner in enumerate(value)
        ]
    return text


@pytest.mark.usefixtures("any_cursor_is_ours")
@pytest.mark.parametrize("endpoint", endpoints(), ids=str)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_no_text_is_an_error_of_ours(
    apps: Mapping[str, Flask], endpoint: Endpoint, draw: st.DataObject
) -> None:
    assert statuses(apps[endpoint.service], endpoint, draw) != 500


@pytest.mark.parametrize("kind", ["lists", "parameters"])
@pytest.mark.parametrize("text", ["\ud800", "\x00", "a\udfff"])
def test_a_forged_cursor_of_names_is_refused(apps: Mapping[str, Flask], kind: str, text: str) -> None:
    cursor = cursors.encode_cursor(kind, {}, [text])
    answer = apps["registry"].test_client().get(f"/v1/{kind}?cursor={cursor}", headers=bearer("viewer"))
    assert (answer.status_code, answer.get_json()["type"]) == (400, "urn:tripline:problem:invalid-cursor")
