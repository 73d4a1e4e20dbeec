"""Keys that are given out over HTTP: known and revoked within a second, and good for a while without their store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tripline_http.application import Access, new_app
from tripline_http.auth import identify, install_stored_keys
from tripline_http.errors import KeysUnavailable
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.stored_keys import (
    LONGEST_SECONDS,
    LOOK_SECONDS,
    MISS_SECONDS,
    USE_SECONDS,
    StoredKey,
    StoredKeys,
)

OF_FILE, OF_STORE = "the-key-of-ada-for-tests", "tk_of-bob-for-tests-only"


def sha256(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class Clock:
    """Seconds, moved by hand; the wall's are ahead by a million."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + 1_000_000


class FakeStore:
    """Keys in memory, that may be away."""

    def __init__(self, *keys: StoredKey) -> None:
        self.keys = list(keys)
        self.is_away = False
        self.reads = 0
        self.uses: list[tuple[int, int]] = []

    def living(self) -> Sequence[StoredKey]:
        self.reads += 1
        if self.is_away:
            raise KeysUnavailable("away")
        return list(self.keys)

    def note_use(self, secret_id: int, now_ms: int) -> None:
        if self.is_away:
            raise KeysUnavailable("away")
        self.uses.append((secret_id, now_ms))


BOB = StoredKey(7, "bob", "analyst", sha256(OF_STORE), None)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> FakeStore:
    return FakeStore(BOB)


@pytest.fixture
def client(store: FakeStore, clock: Clock) -> FlaskClient:
    return app_of(store, clock).test_client()


def app_of(store: FakeStore, clock: Clock) -> Flask:
    keys = [ApiKey("ada", sha256(OF_FILE), frozenset())]
    app = new_app("stored", access=Access(keys), registry=CollectorRegistry(), checks={})
    install_stored_keys(app, store, clock, clock.wall)

    @app.get("/me")
    def me() -> Any:
        caller = identify()
        return jsonify([caller.name, caller.role])

    return app


def status(client: FlaskClient, key: str) -> int:
    return client.get("/me", headers={"Authorization": f"Bearer {key}"}).status_code


def test_a_key_of_the_store_is_a_caller_in_a_role(client: FlaskClient) -> None:
    answer = client.get("/me", headers={"Authorization": f"Bearer {OF_STORE}"})
    assert answer.get_json() == ["bob", "analyst"]
    assert status(client, OF_FILE) == 200
    assert status(client, "tk_of-nobody-for-tests") == 401


def test_a_key_that_was_given_out_just_now_is_known(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    assert status(client, OF_STORE) == 200
    store.keys.append(StoredKey(8, "eve", "viewer", sha256("tk_of-eve-for-tests-only"), None))
    clock.now += MISS_SECONDS
    assert status(client, "tk_of-eve-for-tests-only") == 200
    assert store.reads == 2
    for _ in range(20):
        status(client, "tk_of-nobody-for-tests")
    assert store.reads == 2


def test_the_store_is_read_once_a_second_at_the_most(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    for _ in range(20):
        assert status(client, OF_STORE) == 200
    assert store.reads == 1
    clock.now += LOOK_SECONDS
    status(client, OF_STORE)
    assert store.reads == 2


def test_what_is_given_out_and_revoked_counts_within_a_second(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    assert status(client, OF_STORE) == 200
    store.keys.append(StoredKey(8, "eve", "viewer", sha256("tk_of-eve-for-tests-only"), None))
    store.keys.remove(BOB)
    clock.now += LOOK_SECONDS
    assert status(client, "tk_of-eve-for-tests-only") == 200
    assert status(client, OF_STORE) == 401


def test_an_ended_key_is_said_to_have_expired(clock: Clock) -> None:
    end = int(clock.wall() * 1000)
    ended = FakeStore(StoredKey(7, "bob", "analyst", sha256(OF_STORE), 1))
    answer = app_of(ended, clock).test_client().get("/me", headers={"Authorization": f"Bearer {OF_STORE}"})
    assert (answer.status_code, "expired" in answer.get_json()["detail"]) == (401, True)
    keys = StoredKeys(FakeStore(StoredKey(7, "bob", "analyst", sha256(OF_STORE), end)), clock)
    api_key = keys.find(sha256(OF_STORE))
    assert api_key is not None
    assert api_key.not_after == end / 1000


def test_the_file_has_the_first_word_on_a_name(clock: Clock) -> None:
    store = FakeStore(StoredKey(7, "ada", "admin", sha256(OF_STORE), None))
    client = app_of(store, clock).test_client()
    assert status(client, OF_STORE) == 401
    assert status(client, OF_FILE) == 200


def test_a_role_that_is_none_lets_nobody_in(clock: Clock) -> None:
    store = FakeStore(StoredKey(7, "bob", "root", sha256(OF_STORE), None))
    assert status(app_of(store, clock).test_client(), OF_STORE) == 401


def test_a_short_key_is_refused_though_its_hash_is_stored(clock: Clock) -> None:
    store = FakeStore(StoredKey(7, "bob", "admin", sha256("short"), None))
    assert status(app_of(store, clock).test_client(), "short") == 401


def test_a_store_that_is_away_leaves_its_keys_good_for_a_minute(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    assert status(client, OF_STORE) == 200
    store.is_away = True
    with capture_logs() as lines:
        for _ in range(5):
            clock.now += LOOK_SECONDS
            assert status(client, OF_STORE) == 200
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["stored_keys_kept"]
    # Whether somebody got this key meanwhile cannot be told: it is not refused as wrong.
    answer = client.get("/me", headers={"Authorization": "Bearer tk_of-nobody-for-tests"})
    assert (answer.status_code, answer.get_json()["type"]) == (503, "urn:tripline:problem:keys-unavailable")
    assert answer.headers["Retry-After"] == "2"
    clock.now += LONGEST_SECONDS
    assert status(client, OF_STORE) == 503
    assert status(client, OF_FILE) == 200
    store.is_away = False
    clock.now += LOOK_SECONDS
    assert status(client, OF_STORE) == 200
    assert status(client, "tk_of-nobody-for-tests") == 401


def test_a_store_that_never_answered_is_said(client: FlaskClient, store: FakeStore) -> None:
    store.is_away = True
    assert status(client, OF_STORE) == 503
    assert status(client, OF_FILE) == 200


def test_the_last_use_is_noted_once_a_minute_for_each_secret(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    for _ in range(5):
        status(client, OF_STORE)
    status(client, OF_FILE)
    first = int(clock.wall() * 1000)
    assert store.uses == [(7, first)]
    clock.now += USE_SECONDS
    for _ in range(5):
        status(client, OF_STORE)
    assert store.uses == [(7, first), (7, first + 60_000)]


def test_a_use_that_cannot_be_noted_holds_nobody_up(
    client: FlaskClient, store: FakeStore, clock: Clock
) -> None:
    assert status(client, OF_STORE) == 200
    store.is_away = True
    clock.now += USE_SECONDS - 1
    assert status(client, OF_STORE) == 200
    clock.now += 1
    assert status(client, OF_STORE) == 200
