"""Sessions of the console in a real database: known to every process, gone with their key, and no key to read there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import psycopg
import pytest

from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_sessions import PostgresSessions
from alert_api.errors import StoreUnavailable
from alert_api.service.sessions import SealedSession
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.api_process import LiveApi, live_api
from tests.integration.alert_api.support.servers import eventually
from tests.integration.alert_api.support.signed_in import sign_in
from tests.registry import running_api
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

ADA = "ada-key-for-tests"
ADMIN = "admin-of-role-for-tests"


@pytest.fixture
def store(module_database: AlertsDatabase) -> Iterator[PostgresSessions]:
    with psycopg.connect(module_database.owner) as connection:
        connection.execute("TRUNCATE alerts.console_sessions")
    with open_pool(module_database.api, 2) as pool:
        yield PostgresSessions(pool)


def session(number: int, actor: str = "ada", **times: int) -> SealedSession:
    return SealedSession(
        f"{number:064x}", actor, b"sealed", **{"created_at": number, "expires_at": 1000, **times}
    )


def test_a_session_is_found_until_it_ends(store: PostgresSessions) -> None:
    store.add(session(1), 4)
    assert store.find(session(1).sha256, 999) == session(1)
    assert store.find(session(1).sha256, 1000) is None
    assert store.find(session(2).sha256, 1) is None


def test_a_session_that_is_removed_is_gone_and_may_be_removed_again(store: PostgresSessions) -> None:
    store.add(session(1), 4)
    store.add(session(2), 4)
    for _ in range(2):
        store.remove(session(1).sha256)
    assert store.find(session(1).sha256, 1) is None
    assert store.find(session(2).sha256, 1) == session(2)


def test_a_new_one_ends_the_actors_oldest_and_sweeps_those_that_ended(
    store: PostgresSessions, module_database: AlertsDatabase
) -> None:
    store.add(session(1, "bob"), 2)
    store.add(session(2, expires_at=5), 2)
    for number in (5, 6, 7):
        store.add(session(number), 2)
    with psycopg.connect(module_database.owner) as connection:
        rows = connection.execute("SELECT actor, created_at FROM alerts.console_sessions ORDER BY created_at")
        assert rows.fetchall() == [("bob", 1), ("ada", 6), ("ada", 7)]


def test_a_database_that_is_away_is_said_so() -> None:
    with open_pool("postgresql://nobody@127.0.0.1:9/none", 1) as pool:
        store = PostgresSessions(pool)
        with pytest.raises(StoreUnavailable):
            store.find("a" * 64, 1)


def ask(
    api: LiveApi, headers: Mapping[str, str], path: str = "/v1/alerts", method: str = "GET"
) -> httpx.Response:
    return httpx.request(method, f"{api.url}{path}", headers=headers, timeout=60, verify=False)


def test_a_session_is_known_to_every_process_and_no_key_is_in_the_database(
    module_database: AlertsDatabase, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with (
        live_api(module_database.api, tmp_path) as one,
        live_api(module_database.api, tmp_path / "other") as other,
    ):
        ada = sign_in(one, ADA)
        assert [ask(api, ada).status_code for api in (one, other)] == [200, 200]
        with psycopg.connect(module_database.owner) as connection:
            (row,) = connection.execute(
                "SELECT c::text, encode(sealed, 'escape') FROM alerts.console_sessions c WHERE actor = 'ada'"
            ).fetchall()
        cookie = ada["Cookie"].partition("=")[2]
        assert not [text for text in row for secret in (ADA, cookie) if secret in text]
        assert ask(other, ada, "/v1/session", "DELETE").status_code == 204
        assert [ask(api, ada).status_code for api in (one, other)] == [401, 401]


def test_a_key_that_is_withdrawn_ends_its_sessions(
    postgres: PostgresServer, migrated_database: str, tmp_path: Path
) -> None:
    (tmp_path / "alerts").mkdir()
    dsn = postgres.login(migrated_database, "tripline_alert_api")
    with (
        running_api(postgres, migrated_database, tmp_path) as registry,
        live_api(dsn, tmp_path / "alerts", registry.url) as api,
        registry.client(ADMIN) as admin,
    ):
        key = admin.post("/v1/keys", json={"name": "nina", "role": "analyst"}).json()["key"]
        nina = sign_in(api, key)
        assert ask(api, nina, "/console/registry/rules").status_code == 200
        with httpx.stream(
            "GET", f"{api.url}/v1/alerts/stream", headers=nina, timeout=60, verify=False
        ) as stream:
            assert stream.status_code == 200
            assert admin.delete("/v1/keys/nina").status_code == 204
            withdrawn = time.monotonic()
            for _ in stream.iter_raw():
                assert time.monotonic() - withdrawn < 120, "the stream goes on"
        eventually(lambda: ask(api, nina).status_code == 401, "the session has ended")
        assert ask(api, nina).json()["type"] == "urn:tripline:problem:session-ended"
