"""Requests of a caller are bounded: so many a second, a burst at once, and a time after which one more is let in."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from flask import Flask, jsonify
from prometheus_client import CollectorRegistry

from tripline_http.application import Access, new_app
from tripline_http.auth import authorize, current_actor, identify, install_rate_limit
from tripline_http.errors import ConfigurationError, ProblemError
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.rate_limit import CALLERS, RateLimit, RateLimiter, read_rate_limit

SLOW = RateLimit(per_second=1, burst=3)


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def app_of(limit: RateLimit) -> Flask:
    keys = [
        ApiKey(name, hashlib.sha256(f"the-key-of-{name}-for-tests".encode()).hexdigest(), frozenset(scopes))
        for name, scopes in (("ada", ["rules:read"]), ("bob", []))
    ]
    app = new_app("rates", access=Access(keys), registry=CollectorRegistry(), checks={})
    install_rate_limit(app, limit)

    @app.get("/rules")
    def rules() -> Any:
        authorize("rules:read")
        # A view may ask again: the request is one.
        return jsonify(identify().name, current_actor())

    return app


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer the-key-of-{name}-for-tests"}


def is_let_in(limiter: RateLimiter, caller: str) -> bool:
    try:
        limiter.count(caller)
    except ProblemError:
        return False
    return True


def test_a_burst_is_let_in_and_then_so_many_a_second() -> None:
    clock = Clock()
    limiter = RateLimiter(RateLimit(per_second=10, burst=20), clock)
    assert [is_let_in(limiter, "ada") for _ in range(22)] == [True] * 20 + [False] * 2
    clock.now += 0.5
    assert [is_let_in(limiter, "ada") for _ in range(7)] == [True] * 5 + [False] * 2
    clock.now += 3600
    assert sum(is_let_in(limiter, "ada") for _ in range(30)) == 20


def test_a_caller_is_told_when_to_come_again() -> None:
    clock = Clock()
    limiter = RateLimiter(SLOW, clock)
    for _ in range(3):
        limiter.count("ada")
    clock.now += 0.25
    with pytest.raises(ProblemError) as refused:
        limiter.count("ada")
    assert (refused.value.status, refused.value.kind) == (429, "too-many-requests")
    seconds = int(refused.value.headers["Retry-After"])
    assert seconds == 1
    clock.now += seconds
    limiter.count("ada")


def test_one_caller_s_requests_hold_up_nobody_else_and_health_is_not_counted() -> None:
    client = app_of(SLOW).test_client()
    assert [client.get("/rules", headers=bearer("ada")).status_code for _ in range(5)] == [200] * 3 + [
        429
    ] * 2
    refused = client.get("/rules", headers=bearer("ada"))
    assert refused.content_type == "application/problem+json"
    assert refused.get_json()["type"] == "urn:tripline:problem:too-many-requests"
    assert refused.headers["Retry-After"] == "1"
    # What is refused for its scope is a request too.
    assert [client.get("/rules", headers=bearer("bob")).status_code for _ in range(4)] == [403] * 3 + [429]
    for path in ("/livez", "/readyz", "/metrics"):
        assert [client.get(path, headers=bearer("ada")).status_code for _ in range(5)] == [200] * 5


def test_wrong_keys_are_nobody_s_requests() -> None:
    client = app_of(SLOW).test_client()
    for _ in range(5):
        assert client.get("/rules", headers=bearer("eve")).status_code == 401
    assert client.get("/rules", headers=bearer("ada")).status_code == 200


def test_no_limit() -> None:
    client = app_of(RateLimit(per_second=0, burst=1)).test_client()
    assert {client.get("/rules", headers=bearer("ada")).status_code for _ in range(100)} == {200}


def test_the_memory_for_callers_is_bounded() -> None:
    limiter = RateLimiter(SLOW, Clock())
    for number in range(CALLERS + 10):
        limiter.count(str(number))
    # The first ones are forgotten, and begin with a full bucket; the last one has two requests left.
    assert [is_let_in(limiter, "0") for _ in range(4)] == [True] * 3 + [False]
    assert [is_let_in(limiter, str(CALLERS + 9)) for _ in range(3)] == [True] * 2 + [False]


@pytest.mark.parametrize(
    ("environment", "limit"),
    [
        ({}, RateLimit(500, 1000)),
        ({"TRIPLINE_RATE_LIMIT": " 20 "}, RateLimit(20, 40)),
        ({"TRIPLINE_RATE_LIMIT": "20", "TRIPLINE_RATE_BURST": "5"}, RateLimit(20, 5)),
        ({"TRIPLINE_RATE_LIMIT": "0"}, RateLimit(0, 1)),
        ({"TRIPLINE_RATE_LIMIT": "1000000"}, RateLimit(1_000_000, 2_000_000)),
    ],
)
def test_the_settings_are_read(environment: dict[str, str], limit: RateLimit) -> None:
    assert read_rate_limit(environment) == limit


@pytest.mark.parametrize("name", ["TRIPLINE_RATE_LIMIT", "TRIPLINE_RATE_BURST"])
@pytest.mark.parametrize("value", ["-1", "1.5", "many", "1000001", "9" * 30, "٣"])
def test_a_setting_that_is_none_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is '{value}'; expected a whole number from"):
        read_rate_limit({name: value})


def test_a_burst_of_nothing_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="TRIPLINE_RATE_BURST is '0'; expected a whole number from 1"
    ):
        read_rate_limit({"TRIPLINE_RATE_BURST": "0"})
