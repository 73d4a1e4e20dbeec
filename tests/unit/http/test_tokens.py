"""Tokens of an OpenID Connect issuer: who is let in as what, and every way of being refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tests.oidc_issuer import AUDIENCE, OidcIssuer, new_key, pem_of, running_issuer
from tripline_http.application import Access, new_app
from tripline_http.auth import authorize, identify, install_tokens
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.roles import ROLES
from tripline_http.tokens.issuer import Issuer

KEY_OF_ADA = "the-key-of-ada-for-tests"


@pytest.fixture(scope="module")
def issuer() -> Iterator[OidcIssuer]:
    with running_issuer() as running:
        yield running


def app_of(trusted: Issuer | None) -> Flask:
    digest = hashlib.sha256(KEY_OF_ADA.encode()).hexdigest()
    key = ApiKey("ada", digest, ROLES["viewer"], role="viewer")
    registry = CollectorRegistry()
    app = new_app("tokens", access=Access([key]), registry=registry, checks={})
    install_tokens(app, trusted, registry)

    @app.get("/me")
    def me() -> Any:
        caller = identify()
        return jsonify(actor=caller.name, role=caller.role, scopes=sorted(caller.scopes))

    @app.get("/approve")
    def approve() -> Any:
        authorize("rules:approve")
        return jsonify("approved")

    return app


@pytest.fixture
def client(issuer: OidcIssuer) -> FlaskClient:
    return app_of(Issuer(issuer.url, AUDIENCE)).test_client()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
@pytest.mark.parametrize("role", ROLES)
def test_a_good_token_is_its_holder_in_a_role(
    client: FlaskClient, issuer: OidcIssuer, role: str, algorithm: str
) -> None:
    headers = bearer(issuer.token(algorithm, roles=["another-application", role]))
    said = client.get("/me", headers=headers).get_json()
    assert said == {"actor": "oidc:ada", "role": role, "scopes": sorted(ROLES[role])}
    assert client.get("/approve", headers=headers).status_code == (200 if role == "approver" else 403)


def test_a_token_and_a_key_of_one_name_are_two_callers(client: FlaskClient, issuer: OidcIssuer) -> None:
    names = [
        client.get("/me", headers=bearer(one)).get_json()["actor"] for one in (KEY_OF_ADA, issuer.token())
    ]
    assert names == ["ada", "oidc:ada"]


@pytest.mark.parametrize(
    ("claim", "claims"),
    [
        ("roles", {"roles": "approver"}),
        ("realm_access.roles", {"roles": None, "realm_access": {"roles": ["approver", "uma_authorization"]}}),
        ("https://risk.example/roles", {"roles": None, "https://risk.example/roles": ["approver"]}),
    ],
)
def test_the_claim_of_the_role_is_the_installation_s(
    issuer: OidcIssuer, claim: str, claims: dict[str, Any]
) -> None:
    client = app_of(Issuer(issuer.url, AUDIENCE, role_claim=claim)).test_client()
    assert client.get("/approve", headers=bearer(issuer.token(**claims))).status_code == 200


def test_the_actor_is_the_subject_where_the_installation_says_so(issuer: OidcIssuer) -> None:
    client = app_of(Issuer(issuer.url, AUDIENCE, actor_claim="sub")).test_client()
    assert client.get("/me", headers=bearer(issuer.token())).get_json()["actor"] == "oidc:248289761001"


def test_one_of_several_audiences_is_enough(client: FlaskClient, issuer: OidcIssuer) -> None:
    assert client.get("/me", headers=bearer(issuer.token(aud=["other", AUDIENCE]))).status_code == 200


def seconds_from_now(seconds: int) -> int:
    return int(time.time()) + seconds


def test_clocks_may_differ_a_little(client: FlaskClient, issuer: OidcIssuer) -> None:
    token = issuer.token(exp=seconds_from_now(-15), nbf=seconds_from_now(15), iat=seconds_from_now(15))
    assert client.get("/me", headers=bearer(token)).status_code == 200


def unsigned(header: Any, claims: Any, signature: str = "") -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)
    ]
    return ".".join([*parts, signature])


def with_the_public_key_as_a_secret(issuer: OidcIssuer) -> str:
    """HS256 with what is public: let in by whoever lets the token choose the algorithm."""
    header = unsigned({"alg": "HS256", "kid": "first-RS256"}, issuer.claims()).rstrip(".")
    mac = hmac.digest(pem_of(issuer.private["first-RS256"]), header.encode(), "sha256")
    return f"{header}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def of_another_key(issuer: OidcIssuer) -> str:
    """The issuer's key id, and somebody else's key."""
    return jwt.encode(issuer.claims(), new_key("RS256"), algorithm="RS256", headers={"kid": "first-RS256"})


def with_other_claims(issuer: OidcIssuer) -> str:
    """A good signature, of other claims."""
    header, _, signature = issuer.token().split(".")
    return ".".join([header, unsigned({}, issuer.claims(roles=["approver"])).split(".")[1], signature])


def signed(issuer: OidcIssuer, headers: dict[str, Any]) -> str:
    return jwt.encode(
        issuer.claims(),
        issuer.private["first-RS256"],
        algorithm="RS256",
        headers={"kid": "first-RS256", **headers},
    )


REFUSED: dict[str, tuple[Callable[[OidcIssuer], str], str]] = {
    "wrong audience": (lambda issuer: issuer.token(aud="payroll"), "not one for Tripline"),
    "no audience": (lambda issuer: issuer.token(aud=None), "not one for Tripline"),
    "wrong issuer": (lambda issuer: issuer.token(iss="https://sso.example"), "not one for Tripline"),
    "expired": (lambda issuer: issuer.token(exp=seconds_from_now(-40)), "has expired"),
    "without an end": (lambda issuer: issuer.token(exp=None), "not one for Tripline"),
    "an end that is no time": (lambda issuer: issuer.token(exp="tomorrow"), "not one for Tripline"),
    "not yet good": (lambda issuer: issuer.token(nbf=seconds_from_now(60)), "not one for Tripline"),
    "not signed": (
        lambda issuer: unsigned({"alg": "none", "kid": "first-RS256"}, issuer.claims()), "not signed with"
    ),
    "not signed, in another spelling": (
        lambda issuer: unsigned({"alg": "nOnE", "kid": "first-RS256"}, issuer.claims(), "c2ln"), "not signed with"
    ),
    "HS256 with the public key": (with_the_public_key_as_a_secret, "not signed with"),
    "RS256 said of a key for ES256": (
        lambda issuer: unsigned({"alg": "RS256", "kid": "first-ES256"}, issuer.claims(), "c2ln"), "not one for"
    ),
    "another key of that name": (of_another_key, "not one for Tripline"),
    "other claims": (with_other_claims, "not one for Tripline"),
    "unknown key": (
        lambda issuer: unsigned({"alg": "RS256", "kid": "second"}, issuer.claims(), "c2ln"), "does not have"
    ),
    "no key id": (lambda issuer: unsigned({"alg": "RS256"}, issuer.claims(), "c2ln"), "does not have"),
    "a key id that is no text": (
        lambda issuer: unsigned({"alg": "RS256", "kid": 1}, issuer.claims(), "c2ln"), "cannot be read"
    ),
    "an extension that must be understood": (
        lambda issuer: signed(issuer, {"crit": ["exp"]}), "cannot be read"
    ),
    "a header that is no object": (lambda _: unsigned([], {}, "c2ln"), "cannot be read"),
    "a header that is no JSON": (lambda _: "eyJ.eyJ.c2ln", "cannot be read"),
    "a deep header": (
        lambda _: base64.urlsafe_b64encode(b"[" * 9_000).decode().rstrip("=") + ".eyJ.c2ln", "cannot be read"
    ),
    "no name": (lambda issuer: issuer.token(preferred_username=None), "no preferred_username"),
    "an empty name": (lambda issuer: issuer.token(preferred_username=""), "no preferred_username"),
    "a name that hides others": (lambda issuer: issuer.token(preferred_username="a\u202eda"), "no preferred_username"),
    "a long name": (lambda issuer: issuer.token(preferred_username="a" * 60), "no preferred_username"),
    "a name that is no text": (lambda issuer: issuer.token(preferred_username=["ada"]), "no preferred_username"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_token_that_is_not_good_is_refused_and_not_shown(
    client: FlaskClient, issuer: OidcIssuer, case: str
) -> None:
    build, said = REFUSED[case]
    token = build(issuer)
    with capture_logs() as lines:
        answer = client.get("/me", headers=bearer(token))
    assert (answer.status_code, answer.content_type) == (401, "application/problem+json"), answer.text
    assert answer.get_json()["type"] == "urn:tripline:problem:unauthenticated"
    assert said in answer.get_json()["detail"]
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="tripline", error="invalid_token"'
    assert [line["reason"].startswith("token_") for line in lines if line["event"] == "key_refused"] == [True]
    assert token not in str(lines)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ([], "names no role"),
        (None, "names no role"),
        (["Analyst", "root", 7, None], "names no role"),
        ({"analyst": True}, "names no role"),
        (["approver", "analyst"], "names more than one role: analyst, approver"),
    ],
)
def test_a_token_without_one_role_may_do_nothing(
    client: FlaskClient, issuer: OidcIssuer, roles: Any, said: str
) -> None:
    answer = client.get("/me", headers=bearer(issuer.token(roles=roles)))
    assert (answer.status_code, answer.get_json()["type"]) == (403, "urn:tripline:problem:no-role")
    assert said in answer.get_json()["detail"]


def test_wrong_tokens_of_an_address_are_throttled_and_good_ones_are_not(
    client: FlaskClient, issuer: OidcIssuer
) -> None:
    wrong = [client.get("/me", headers=bearer(issuer.token(aud="payroll"))).status_code for _ in range(12)]
    assert wrong == [401] * 10 + [429] * 2
    assert client.get("/me", headers=bearer(issuer.token())).status_code == 200


def test_who_trusts_no_issuer_lets_in_no_token_and_asks_nobody(issuer: OidcIssuer) -> None:
    asked = len(issuer.asked)
    answer = app_of(None).test_client().get("/me", headers=bearer(issuer.token()))
    assert answer.status_code == 401
    assert len(issuer.asked) == asked
