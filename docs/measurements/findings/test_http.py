"""Findings about HTTP (F3, F6 to F13, F16, F18 to F21), as bb01e79's names have it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from flask import jsonify
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool
from rich.console import Console

from alert_api.api.application import Streaming
from alert_api.settings import api_settings
from rules_registry.api.application import create_app
from rules_registry.api.rule_body import read_rule_body
from tests.registry import DEFINITION, running_api
from tests.servers import PostgresServer
from tests.unit.alert_api import test_console_data as console
from tests.unit.alert_api.samples import FakeOverview, app, key
from tests.unit.alert_api.test_stream import ADA, AS_ADA, AT_ONCE, open_stream
from tests.unit.demo.generator.fakes import FakeDesk
from tests.unit.demo.generator.test_api import PAYMENT, client_of
from tests.unit.rules_registry.samples import BODY
from tripline_contracts import exact_json, legacy
from tripline_contracts.event_type import load
from tripline_demo import ports
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.stack import screen
from tripline_demo.stack.places import Places
from tripline_http import cursors
from tripline_http.application import new_app
from tripline_http.auth import ApiKey, authorize, load_api_keys
from tripline_http.errors import ConfigurationError, ProblemError
from tripline_http.json_bodies import parse_json
from tripline_http.logs import mask_secrets

VIEWER, AS_VIEWER = key("viewer", "rules:read")
PROGRAM = """
import sys
from prometheus_client import CollectorRegistry
from tripline_http.application import new_app
from tripline_http.binding import Bind
from tripline_http.server import serve
serve(lambda: new_app("held", keys=(), registry=CollectorRegistry(), checks={}),
      Bind("127.0.0.1", int(sys.argv[1])), threads=4)
"""


@pytest.mark.parametrize(
    "said",
    [
        b"GET /livez HTTP/1.1\r\nHost: x\r\nX: ",
        b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
    ],
    ids=["head", "body"],
)
def test_f3_idle_heads_and_bodies_keep_nobody_out(said: bytes, tmp_path: Path) -> None:
    """tests/integration/test_sockets.py"""
    (port,) = ports.free_ports(1)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with (
        subprocess.Popen([sys.executable, str(program), str(port)]) as process,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(process.kill)
        while not ports.is_open(port):
            time.sleep(0.05)
        for _ in range(32):
            held = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            held.sendall(said)
        time.sleep(0.5)
        assert httpx.get(f"http://127.0.0.1:{port}/livez", timeout=1).status_code == 200


def registry_client() -> FlaskClient:
    made = create_app(ConnectionPool("", open=False), [VIEWER], CollectorRegistry(), load("transaction"))
    return (made[0] if isinstance(made, tuple) else made.app).test_client()


class TestF6:
    """tests/unit/demo/generator/test_access.py, tests/integration/test_known_hosts.py"""

    def test_a_key_is_needed(self) -> None:
        assert client_of(PAYMENTS, FakeDesk()).get("/v1/traffic").status_code == 401

    def test_a_foreign_host_is_refused(self) -> None:
        clients = (client_of(PAYMENTS, FakeDesk()), registry_client(), app(keys=(ADA,)).test_client())
        asked = [client.get("/openapi.json", headers={"Host": "attacker.example"}) for client in clients]
        assert [answer.status_code for answer in asked] == [421] * 3

    def test_no_page_of_another_origin_is_obeyed(self) -> None:
        headers = {"Sec-Fetch-Site": "cross-site", "Origin": "http://attacker.example"}
        client = client_of(PAYMENTS, FakeDesk())
        assert client.post("/v1/transactions", headers=headers, json=PAYMENT).status_code == 403


def test_f7_one_actor_leaves_seats_for_the_others() -> None:
    """tests/unit/alert_api/test_stream.py"""
    bob, as_bob = key("bob", "alerts:read")
    client = app(
        overview=FakeOverview(), keys=(ADA, bob), streaming=Streaming(threading.Event(), AT_ONCE)
    ).test_client()
    with contextlib.ExitStack() as stack:
        for _ in range(18):
            stack.enter_context(open_stream(client))
        theirs = client.get("/v1/alerts/stream", headers=as_bob, buffered=False)
        stack.enter_context(theirs)
        assert theirs.status_code == 200


def test_f8_masking_takes_linear_time() -> None:
    """tests/unit/http/test_keys_logs_binds.py, with a sixteenth of its 1 MB"""
    began = time.process_time()
    mask_secrets(None, "info", {"event": "a" * 64_000})
    assert time.process_time() - began < 5 / 16


DIGEST = "ab" * 32
ENTRY = {"name": "ada", "sha256": DIGEST, "scopes": ["rules:read"]}


class TestF9:
    """tests/unit/http/test_keys_logs_binds.py, test_key_life.py"""

    @pytest.mark.parametrize(
        "entries",
        [
            [ENTRY, {**ENTRY, "name": "bob"}],
            [{**ENTRY, "sha256": hashlib.sha256(b"").hexdigest()}],
            [{**ENTRY, "notAfter": "never"}],
        ],
        ids=["equal", "empty", "no end"],
    )
    def test_a_wrong_key_file_is_refused(self, tmp_path: Path, entries: object) -> None:
        path = tmp_path / "keys.json"
        path.write_text(json.dumps(entries))
        path.chmod(0o600)
        with pytest.raises(ConfigurationError):
            load_api_keys(path)

    def test_a_file_that_others_write_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        path.write_text(json.dumps([ENTRY]))
        path.chmod(0o666)
        with pytest.raises(ConfigurationError):
            load_api_keys(path)

    def test_guesses_are_throttled(self) -> None:
        made = new_app("life", keys=(), registry=CollectorRegistry(), checks={})

        @made.get("/rules")
        def rules() -> object:
            authorize("rules:read")
            return jsonify(1)

        asked = [made.test_client().get("/rules", headers={"Authorization": "Bearer no"}) for _ in range(200)]
        assert 429 in {answer.status_code for answer in asked}

    def test_an_empty_key_opens_nothing(self) -> None:
        empty = ApiKey("ada", hashlib.sha256(b"").hexdigest(), frozenset({"rules:read"}))
        made = new_app("life", keys=(empty,), registry=CollectorRegistry(), checks={})

        @made.get("/rules")
        def rules() -> object:
            authorize("rules:read")
            return jsonify(1)

        assert made.test_client().get("/rules", headers={"Authorization": "Bearer "}).status_code == 401

    def test_a_change_of_the_file_counts_without_a_restart(self) -> None:
        __import__("tripline_http.keys.watched_key_file")


class TestF10:
    def test_beyond_loopback_behind_a_proxy_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """tests/unit/alert_api/test_settings.py"""
        for name in ("ALERTS_DSN", "API_KEYS_FILE"):
            monkeypatch.setenv(f"TRIPLINE_{name}", "postgresql://a@127.0.0.1/x")
        monkeypatch.setenv("TRIPLINE_HTTP_BIND", "[::]:8082")
        with pytest.raises(ConfigurationError):
            api_settings()

    def test_a_database_elsewhere_has_to_be_verified(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """tests/unit/alert_api/test_settings.py"""
        monkeypatch.setenv("TRIPLINE_API_KEYS_FILE", "x")
        monkeypatch.setenv("TRIPLINE_ALERTS_DSN", "postgresql://a@db/x")
        with pytest.raises(ConfigurationError):
            api_settings()


def test_f11_a_quota_of_rules(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/integration/registry/test_quotas.py"""
    monkeypatch.setenv("TRIPLINE_MAX_ACTIVE_RULES", "3")
    with (
        postgres.database(migrated=True) as dsn,
        running_api(postgres, dsn, tmp_path) as api,
        api.client() as client,
    ):
        statuses = [client.post("/v1/rules", json=DEFINITION).status_code for _ in range(5)]
    assert statuses == [201] * 3 + [409] * 2


class TestF12:
    def test_a_repeated_member_is_refused(self) -> None:
        """tests/contract/test_duplicate_members.py"""
        with pytest.raises(ProblemError):
            parse_json(b'{"limit": "5", "limit": "1000000"}')

    def test_an_unknown_parameter_is_refused(self, postgres: PostgresServer, tmp_path: Path) -> None:
        """tests/contract/test_query_parameters.py"""
        with (
            postgres.database(migrated=True) as dsn,
            running_api(postgres, dsn, tmp_path) as api,
            api.client() as client,
        ):
            assert [client.get(f"/v1/rules?{q}").status_code for q in ("x=1", "limit=1&limit=1")] == [422] * 2


def test_f13_a_forged_cursor_of_names_is_refused(postgres: PostgresServer, tmp_path: Path) -> None:
    """tests/integration/test_unstorable_text.py"""
    with (
        postgres.database(migrated=True) as dsn,
        running_api(postgres, dsn, tmp_path) as api,
        api.client() as client,
    ):
        for kind in ("lists", "parameters"):
            cursor = cursors.encode_cursor(kind, {}, ["\ud800"])
            assert client.get(f"/v1/{kind}?cursor={cursor}").status_code == 400


def test_f16_time_grows_with_the_length() -> None:
    """tests/unit/contracts/test_linear_reading.py: four times the text, some four times as long"""
    spent = []
    for size in (130_000, 520_000):
        began = time.process_time()
        with contextlib.suppress(Exception):
            legacy.read_line("(" * size)
        spent.append(time.process_time() - began)
    assert spent[1] < 8 * max(spent[0], 0.01), spent


def test_f18_the_screen_shows_no_key(tmp_path: Path) -> None:
    """tests/unit/demo/test_screen.py"""
    stack = dict.fromkeys(("console", "rulesRegistry", "alertApi", "generator", "kafka", "postgres"), "x")
    shown = io.StringIO()
    keys = {"apiKeys": {"admin": "tk_of-the-admin"}}
    screen.show_running(Console(file=shown, width=60), {**stack, **keys}, Places(tmp_path), "make down")
    assert "tk_" not in shown.getvalue()


@pytest.mark.parametrize("name", ["a\r\nb", "\u202egnp.exe", "adm\u200bin"])
def test_f19_a_name_that_hides_something_is_refused(name: str) -> None:
    """tests/unit/rules_registry/test_rule_body.py"""
    with pytest.raises(ProblemError):
        read_rule_body({**BODY, "name": name})


class TestF20:
    """tests/unit/http/test_answer_headers.py"""

    def test_registry(self) -> None:
        assert registry_client().get("/livez").headers.get("X-Content-Type-Options") == "nosniff"

    def test_alerts(self) -> None:
        answered = app(keys=(ADA,)).test_client().get("/v1/alerts", headers=AS_ADA)
        assert answered.headers.get("Cache-Control") == "no-store"


def test_f21_a_body_of_a_caller_without_a_known_key_is_neither_read_nor_handed_on() -> None:
    """tests/unit/alert_api/test_console_data.py"""
    registry = console.Recorder(httpx.Response(401, json={}))
    client = console.client_of(registry=registry)
    client.put(
        "/console/registry/lists/watched",
        headers={"Authorization": "Bearer unknown to everybody"},
        data=b'{"values": []}',
    )
    assert registry.asked == []


def test_f12_exact_json_refuses_a_repeated_member() -> None:
    """F12 once more: tests/unit/contracts/test_exact_json.py"""
    with pytest.raises(Exception, match="twice"):
        exact_json.loads('{"a": 1, "a": 2}')
