"""The life of an API key: given out, ended and revoked without a restart; guesses are slowed down and logged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog
from flask import Flask, jsonify
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tripline_http.application import Access, new_app
from tripline_http.auth import authorize, current_actor, current_role
from tripline_http.errors import ConfigurationError, ProblemError
from tripline_http.keys.authenticator import MIN_KEY_LENGTH, Authenticator
from tripline_http.keys.caller import Caller
from tripline_http.keys.failure_buckets import ADDRESSES, FAILURES, REFILL_SECONDS, FailureBuckets
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.watched_key_file import WatchedKeyFile

ADA, BOB = "the-key-of-ada-for-tests", "the-key-of-bob-for-tests"
HERE, THERE = "192.0.2.1", "192.0.2.2"


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def entry(name: str, key: str, **more: str) -> dict[str, Any]:
    return {
        "name": name,
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "scopes": ["rules:read"],
        **more,
    }


def write(path: Path, *entries: dict[str, Any]) -> None:
    """Replaces the file, as an editor does."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(entries), encoding="utf-8")
    fresh.chmod(0o600)
    fresh.replace(path)


def watched(path: Path, clock: Clock) -> WatchedKeyFile:
    """The file, by a clock that is far ahead of the times in the file system."""
    return WatchedKeyFile(path, steady=clock, wall=lambda: 1e11)


def names(keys: Iterable[ApiKey]) -> list[str]:
    return [key.name for key in keys]


def app_of(keys: Iterable[ApiKey]) -> Flask:
    app = new_app("life", access=Access(keys), registry=CollectorRegistry(), checks={})

    @app.get("/rules")
    def rules() -> Any:
        authorize("rules:read")
        return jsonify(current_actor())

    @app.get("/role")
    def role() -> Any:
        authorize("rules:read")
        return jsonify(current_role())

    @app.get("/careless")
    def careless() -> Any:
        return jsonify(current_role())

    @app.get("/alerts")
    def alerts() -> Any:
        authorize("alerts:read")
        return jsonify(current_actor())

    return app


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def known(*entries: dict[str, Any]) -> Sequence[ApiKey]:
    return [ApiKey(one["name"], one["sha256"], frozenset(one["scopes"])) for one in entries]


def refusal(act: Callable[[], object]) -> ProblemError:
    with pytest.raises(ProblemError) as refused:
        act()
    return refused.value


def test_a_change_of_the_file_counts_without_a_restart(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    write(path, entry("ada", ADA))
    client = app_of(watched(path, clock)).test_client()
    assert client.get("/rules", headers=bearer(ADA)).status_code == 200
    write(path, entry("bob", BOB))
    clock.now += 1
    assert client.get("/rules", headers=bearer(ADA)).status_code == 401
    assert client.get("/rules", headers=bearer(BOB)).get_json() == "bob"


def test_a_view_knows_the_role_of_who_calls(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    of_a_role = {name: value for name, value in entry("ada", ADA, role="analyst").items() if name != "scopes"}
    write(path, of_a_role, entry("bob", BOB))
    client = app_of(WatchedKeyFile(path)).test_client()
    assert client.get("/role", headers=bearer(ADA)).get_json() == "analyst"
    assert client.get("/role", headers=bearer(BOB)).get_json() is None
    # Nobody was asked for, so nobody is known.
    assert client.get("/careless", headers=bearer(ADA)).status_code == 500


def test_the_file_is_looked_at_once_a_second_at_the_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    write(path, entry("ada", ADA))
    keys, looks, real = watched(path, clock), [0], Path.stat

    def counted(asked: Path, **named: Any) -> os.stat_result:
        looks[0] += asked == path
        return real(asked, **named)

    monkeypatch.setattr(Path, "stat", counted)
    for _ in range(100):
        list(keys)
        clock.now += 0.0625
    assert looks[0] == 6


def test_a_change_right_after_a_look_is_seen_though_the_file_looks_the_same(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    write(path, entry("ada", ADA))
    # By the true time, the file was written a moment ago.
    keys = WatchedKeyFile(path, steady=clock)
    before = path.stat()
    path.write_text(path.read_text().replace('"ada"', '"eva"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    clock.now += 1
    assert names(keys) == ["eva"]


@pytest.mark.parametrize("broken", ["{", "[]x", '[{"name": "ada"}]', None])
def test_a_broken_file_keeps_the_keys_says_so_once_and_shows_in_a_metric(
    tmp_path: Path, broken: str | None
) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    write(path, entry("ada", ADA))
    client = app_of(watched(path, clock)).test_client()
    assert "tripline_api_key_file_refused 0.0" in client.get("/metrics").text
    if broken is None:
        path.unlink()
    else:
        path.write_text(broken, encoding="utf-8")
    with capture_logs() as lines:
        for _ in range(3):
            clock.now += 1
            assert client.get("/rules", headers=bearer(ADA)).status_code == 200
    assert [line["log_level"] for line in lines if line["event"] == "api_keys_kept"] == ["error"]
    assert "tripline_api_key_file_refused 1.0" in client.get("/metrics").text
    write(path, entry("ada", ADA), entry("bob", BOB))
    clock.now += 1
    assert client.get("/rules", headers=bearer(BOB)).status_code == 200
    assert "tripline_api_key_file_refused 0.0" in client.get("/metrics").text


def test_a_file_that_is_opened_to_others_gives_out_no_new_key(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    write(path, entry("ada", ADA))
    keys = watched(path, clock)
    path.write_text(json.dumps([entry("bob", BOB)]), encoding="utf-8")
    path.chmod(0o666)
    clock.now += 1
    assert names(keys) == ["ada"]
    assert keys.is_refused


def test_a_broken_file_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        WatchedKeyFile(tmp_path / "keys.json")


def test_a_key_is_good_until_its_end() -> None:
    clock, digest = Clock(), hashlib.sha256(ADA.encode()).hexdigest()
    key = ApiKey("ada", digest, frozenset(), not_after=clock.now + 10)
    authenticator, clock.now = Authenticator([key], wall=clock), clock.now + 10
    caller = Caller("ada", frozenset(), not_after=clock.now)
    assert authenticator.authenticate(f"Bearer {ADA}", HERE) == caller
    clock.now += 0.25
    problem = refusal(lambda: authenticator.authenticate(f"Bearer {ADA}", HERE))
    assert (problem.status, problem.kind) == (401, "unauthenticated")
    assert "expired" in problem.detail


@pytest.mark.parametrize("key", ["", "a", "a" * (MIN_KEY_LENGTH - 1)])
def test_a_short_key_is_refused_though_its_hash_is_known(key: str) -> None:
    authenticator = Authenticator(known(entry("ada", key)))
    assert refusal(lambda: authenticator.authenticate(f"Bearer {key}", HERE)).status == 401
    (least,) = known(entry("ada", "a" * MIN_KEY_LENGTH))
    assert Authenticator([least]).authenticate(f"Bearer {'a' * MIN_KEY_LENGTH}", HERE).name == "ada"


def test_guesses_of_an_address_are_throttled_and_nobody_else_s_request_is() -> None:
    client = app_of(known(entry("ada", ADA))).test_client()

    def ask(key: str, address: str) -> Any:
        return client.get("/rules", headers=bearer(key), environ_overrides={"REMOTE_ADDR": address})

    wrong = "no-key-of-anybody-here"
    assert [ask(wrong, HERE).status_code for _ in range(FAILURES + 2)] == [401] * FAILURES + [429] * 2
    throttled = ask(wrong, HERE)
    assert throttled.get_json()["type"] == "urn:tripline:problem:too-many-failures"
    assert 1 <= int(throttled.headers["Retry-After"]) <= REFILL_SECONDS
    assert ask(ADA, HERE).status_code == 200
    assert ask(ADA, THERE).status_code == 200
    assert ask(wrong, THERE).status_code == 401


def test_an_address_may_fail_again_after_the_time_that_it_is_told() -> None:
    clock = Clock()
    buckets = FailureBuckets(clock)
    assert [buckets.fail(HERE) for _ in range(FAILURES)] == [0] * FAILURES
    wait = buckets.fail(HERE)
    assert wait > 0
    clock.now += wait
    assert buckets.fail(HERE) == 0
    assert buckets.fail(HERE) > 0
    clock.now += 3600
    assert [buckets.fail(HERE) for _ in range(FAILURES + 1)] == [0] * FAILURES + [6]


def test_the_memory_for_addresses_is_bounded() -> None:
    buckets = FailureBuckets(Clock())
    for number in range(ADDRESSES + 100):
        buckets.fail(f"10.{number >> 16}.{(number >> 8) & 255}.{number & 255}")
    assert len(buckets) == ADDRESSES


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("unknown", "unknown", True),
    ],
)
def test_a_network_of_ipv6_is_one_address(first: str, second: str, same: bool) -> None:
    buckets = FailureBuckets(Clock())
    for _ in range(FAILURES):
        buckets.fail(first)
    assert (buckets.fail(second) > 0) is same


@pytest.mark.parametrize(
    ("path", "headers", "status", "reason"),
    [
        ("/rules", {}, 401, None),
        ("/rules", bearer("guess-1"), 401, "short"),
        ("/rules", bearer("no-key-of-anybody-here"), 401, "unknown"),
        ("/alerts", bearer(ADA), 403, None),
    ],
)
def test_a_refusal_is_logged_with_the_peer_s_address_and_without_the_key(
    path: str, headers: dict[str, str], status: int, reason: str | None
) -> None:
    client = app_of(known(entry("ada", ADA))).test_client()
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        answer = client.get(
            path,
            headers={**headers, "X-Forwarded-For": THERE},
            environ_overrides={"REMOTE_ADDR": HERE},
        )
    assert answer.status_code == status
    (line,) = [line for line in lines if line["event"] == "request"]
    assert (line["status"], line["address"]) == (status, HERE)
    refused = [line for line in lines if line["event"] == "key_refused"]
    assert [(line["address"], line["reason"]) for line in refused] == ([(HERE, reason)] if reason else [])
    key = headers.get("Authorization", "Bearer none-of-these").removeprefix("Bearer ")
    assert key not in str(lines)
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        client.get("/rules", headers=bearer(ADA), environ_overrides={"REMOTE_ADDR": HERE})
    assert not any("address" in line for line in lines)
