"""The issuer's keys: kept, followed when they change, outlasted while the issuer is away, asked for now and then."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from tests.oidc_issuer import AUDIENCE, OidcIssuer, new_key, published, running_issuer
from tests.unit.http.test_tokens import bearer
from tripline_http.application import Access, new_app
from tripline_http.auth import identify, install_tokens
from tripline_http.errors import ISSUER_RETRY_SECONDS, ConfigurationError, IssuerUnavailable
from tripline_http.keys.key_file import ApiKey
from tripline_http.tokens.issuer import Issuer, read_issuer
from tripline_http.tokens.issuer_client import IssuerClient
from tripline_http.tokens.signing_keys import FRESH_SECONDS, LONGEST_SECONDS, SigningKeys

KEY = "the-key-of-ada-for-tests"


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def issuer() -> Iterator[OidcIssuer]:
    with running_issuer() as running:
        yield running


def app_of(issuer: OidcIssuer, clock: Clock) -> Flask:
    keys = [ApiKey("ada", hashlib.sha256(KEY.encode()).hexdigest(), frozenset())]
    registry = CollectorRegistry()
    app = new_app("tokens", access=Access(keys), registry=registry, checks={})
    install_tokens(app, Issuer(issuer.url, AUDIENCE), registry, clock)

    @app.get("/me")
    def me() -> Any:
        return jsonify(identify().name)

    return app


@pytest.fixture
def client(issuer: OidcIssuer, clock: Clock) -> FlaskClient:
    return app_of(issuer, clock).test_client()


def status(client: FlaskClient, token: str) -> int:
    return client.get("/me", headers=bearer(token)).status_code


def test_keys_are_asked_for_once_and_again_after_a_while(
    client: FlaskClient, issuer: OidcIssuer, clock: Clock
) -> None:
    token = issuer.token()
    assert {status(client, token) for _ in range(20)} == {200}
    assert issuer.times_asked_for_keys() == 1
    clock.now += FRESH_SECONDS + 1
    assert {status(client, token) for _ in range(20)} == {200}
    assert issuer.times_asked_for_keys() == 2


def test_a_rotation_is_followed_at_the_first_token_of_the_new_key(
    client: FlaskClient, issuer: OidcIssuer, clock: Clock
) -> None:
    old = issuer.token()
    assert status(client, old) == 200
    clock.now += ISSUER_RETRY_SECONDS
    issuer.add_key("second", "ES256")
    assert status(client, issuer.token("ES256", "second")) == 200
    assert status(client, old) == 200
    issuer.withdraw_key("first-RS256")
    clock.now += FRESH_SECONDS + 1
    assert status(client, old) == 401
    assert status(client, issuer.token("ES256", "second")) == 200


def test_unknown_keys_make_the_issuer_be_asked_once_in_a_while(
    client: FlaskClient, issuer: OidcIssuer, clock: Clock
) -> None:
    assert status(client, issuer.token()) == 200
    clock.now += ISSUER_RETRY_SECONDS
    issuer.add_key("unpublished", "ES256")
    issuer.withdraw_key("unpublished")
    token = issuer.token("ES256", "unpublished")
    assert {status(client, token) for _ in range(9)} == {401}
    assert issuer.times_asked_for_keys() == 2
    clock.now += ISSUER_RETRY_SECONDS
    status(client, token)
    assert issuer.times_asked_for_keys() == 3


def test_an_issuer_that_never_answered_is_said_and_keys_of_ours_go_on(
    client: FlaskClient, issuer: OidcIssuer, clock: Clock
) -> None:
    issuer.status = 500
    answer = client.get("/me", headers=bearer(issuer.token()))
    assert (answer.status_code, answer.content_type) == (503, "application/problem+json")
    assert answer.get_json()["type"] == "urn:tripline:problem:issuer-unavailable"
    assert issuer.url not in answer.text
    seconds = int(answer.headers["Retry-After"])
    assert status(client, KEY) == 200
    assert "tripline_token_issuer_unreachable 1.0" in client.get("/metrics").text
    issuer.status = 200
    # It is not asked before that time, however many come.
    assert {status(client, issuer.token()) for _ in range(5)} == {503}
    clock.now += seconds
    assert status(client, issuer.token()) == 200
    assert "tripline_token_issuer_unreachable 0.0" in client.get("/metrics").text


def test_an_issuer_that_is_away_is_outlasted_for_an_hour(
    client: FlaskClient, issuer: OidcIssuer, clock: Clock
) -> None:
    token = issuer.token()
    assert status(client, token) == 200
    issuer.status = 503
    clock.now += LONGEST_SECONDS
    assert status(client, token) == 200
    # Whether a key that is not known is a new one, nobody can tell now.
    issuer.add_key("second", "RS256")
    assert status(client, issuer.token("RS256", "second")) == 503
    clock.now += ISSUER_RETRY_SECONDS
    assert status(client, token) == 503
    assert status(client, KEY) == 200
    issuer.status = 200
    clock.now += ISSUER_RETRY_SECONDS
    assert status(client, token) == 200


def test_nobody_is_listening() -> None:
    with running_issuer() as issuer:
        url = issuer.url
    with pytest.raises(IssuerUnavailable, match="does not answer: ConnectError"):
        IssuerClient(url).key_set()


def test_who_has_a_key_does_not_wait_for_an_issuer_that_hangs() -> None:
    entries: list[object] = [published("first", new_key("ES256"))]
    clock, asked, answer = Clock(), threading.Event(), threading.Event()
    answer.set()

    def fetch() -> list[object]:
        asked.set()
        assert answer.wait(30)
        return entries

    keys = SigningKeys(fetch, clock)
    assert keys.find("first") is not None
    clock.now += FRESH_SECONDS + 1
    asked.clear()
    answer.clear()
    hanging = threading.Thread(target=keys.find, args=["first"])
    hanging.start()
    assert asked.wait(30)
    assert keys.find("first") is not None
    answer.set()
    hanging.join(30)
    assert not hanging.is_alive()


UNUSABLE: dict[str, Any] = {
    "no object": 7,
    "no key id": {"kty": "RSA"},
    "a shared secret": {"kty": "oct", "kid": "k", "k": "c2VjcmV0LW9mLWV2ZXJ5Ym9keS1hcy1pdC1pcy1wdWJsaXNoZWQ"},
    "another algorithm": published("k", new_key("RS256"), alg="RS512"),
    "for encryption": published("k", new_key("RS256"), use="enc"),
    "too short": published("k", new_key("RS256", bits=1024)),
    "broken": {"kty": "EC", "kid": "k", "crv": "P-256", "x": "AA", "y": "AA"},
    "another curve": {"kty": "EC", "kid": "k", "crv": "P-521", "x": "AA", "y": "AA"},
}


@pytest.mark.parametrize("what", UNUSABLE)
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_key_that_may_not_sign_is_no_key_and_spoils_no_other(what: str) -> None:
    entries = [UNUSABLE[what], published("good", new_key("ES256"))]
    keys = SigningKeys(lambda: entries, Clock())
    assert keys.find("k") is None
    assert keys.find("good") is not None


@pytest.mark.parametrize(
    ("discovery", "said"),
    [
        ({"issuer": "https://sso.example"}, "another issuer's"),
        ({"jwks_uri": "http://keys.example/jwks"}, "names no jwks_uri that can be trusted"),
        ({"jwks_uri": None}, "names no jwks_uri that can be trusted"),
        ({"padding": "x" * 300_000}, "answered too much"),
    ],
)
def test_a_discovery_document_that_cannot_be_trusted(
    issuer: OidcIssuer, discovery: dict[str, Any], said: str
) -> None:
    issuer.discovery |= discovery
    with pytest.raises(IssuerUnavailable, match=said):
        IssuerClient(issuer.url).key_set()
    assert issuer.times_asked_for_keys() == 0


def test_an_issuer_that_points_elsewhere_is_not_followed(issuer: OidcIssuer) -> None:
    issuer.status = 302
    with pytest.raises(IssuerUnavailable, match="answered 302"):
        IssuerClient(issuer.url).key_set()
    assert issuer.times_asked_for_keys() == 0


GIVEN = {"TRIPLINE_OIDC_ISSUER": "https://sso.example/realms/risk", "TRIPLINE_OIDC_AUDIENCE": "tripline"}


def test_the_settings_are_read() -> None:
    assert read_issuer({}) is None
    assert read_issuer(GIVEN) == Issuer(
        "https://sso.example/realms/risk", "tripline", "roles", "preferred_username"
    )
    more = {"TRIPLINE_OIDC_ROLE_CLAIM": "realm_access.roles", "TRIPLINE_OIDC_ACTOR_CLAIM": "sub"}
    assert read_issuer({**GIVEN, **more}) == Issuer(
        "https://sso.example/realms/risk", "tripline", "realm_access.roles", "sub"
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ISSUER", "", "TRIPLINE_OIDC_AUDIENCE is set and TRIPLINE_OIDC_ISSUER is not"),
        ("AUDIENCE", " ", "TRIPLINE_OIDC_AUDIENCE is not set"),
        ("ACTOR_CLAIM", "email", "expected preferred_username or sub"),
        *[
            ("ISSUER", url, "expected https://host")
            for url in (
                "http://sso.example",
                "sso.example",
                "ftp://127.0.0.1",
                "https://",
                "https://ada:secret@sso.example",
                "https://sso.example?realm=risk",
                "http://127.0.0.1.example",
                "https://[sso",
            )
        ],
    ],
)
def test_settings_that_trust_nobody_or_anybody_are_refused(name: str, value: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_issuer({**GIVEN, f"TRIPLINE_OIDC_{name}": value})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/realms/x", "http://[::1]:1", "http://localhost"])
def test_an_issuer_on_this_machine_needs_no_tls(url: str) -> None:
    issuer = read_issuer({**GIVEN, "TRIPLINE_OIDC_ISSUER": url})
    assert issuer is not None
    assert issuer.url == url
