"""Sessions of the console: opened with a key, under its name, and worth nothing to other pages."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any, Final

import pytest

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.api.session_cookie import COOKIE, TOKEN_HEADER
from alert_api.service.sessions import LONGEST_MS
from tests.contract.support.http_apps import app_named
from tests.unit.alert_api.support.samples import key
from tests.unit.alert_api.support.signed_in import ADA, AS_ADA, CSRF, ENDED, NOW, SECRET, Console, kind

OWN: Final = "http://localhost"
FOREIGN: Final = "urn:tripline:problem:foreign-origin"


def test_a_key_opens_a_session_and_the_cookie_is_for_this_host_alone_and_for_no_script() -> None:
    console = Console()
    answer = console.sign_in()
    assert answer.status_code == 201
    body = answer.get_json()
    assert {name: body[name] for name in ("actor", "role", "scopes", "expiresAt")} == {
        "actor": "ada",
        "role": None,
        "scopes": ["alerts:ack", "alerts:read", "rules:read"],
        "expiresAt": NOW + LONGEST_MS,
    }
    assert answer.headers["Cache-Control"] == "no-store"
    morsel = SimpleCookie(answer.headers["Set-Cookie"])[COOKIE]
    assert COOKIE.startswith("__Host-")
    assert (morsel["secure"], morsel["httponly"], morsel["samesite"]) == (True, True, "Strict")
    assert (morsel["path"], morsel["domain"], morsel["max-age"], morsel["expires"]) == ("/", "", "", "")
    assert SECRET not in answer.text + answer.headers["Set-Cookie"]
    assert body["csrfToken"] not in answer.headers["Set-Cookie"]


def test_what_is_stored_gives_no_key_away_without_the_cookie() -> None:
    console = Console()
    console.sign_in()
    (row,) = console.store.rows.values()
    assert console.cookie is not None
    assert SECRET not in repr(row)
    assert console.cookie not in repr(row)
    with pytest.raises(ValueError, match="not sealed with this key"):
        FernetSeal().unseal("A" * 43, row.sealed)


def test_a_session_acts_under_the_name_of_its_key_and_says_so_to_a_page_that_comes_back() -> None:
    console = Console()
    told = console.sign_in().get_json()
    assert console.browser.get("/v1/session").get_json() == told
    assert console.ask().status_code == 200
    other = console.ask("/v1/rules/7/traces")
    assert other.status_code != 401


def test_the_registry_gets_the_key_and_neither_cookie_nor_token() -> None:
    console = Console()
    console.sign_in()
    assert console.ask("/console/registry/rules").status_code == 200
    (asked,) = console.asked
    assert asked.headers["Authorization"] == AS_ADA["Authorization"]
    assert not {"cookie", TOKEN_HEADER.lower()} & set(asked.headers)


@pytest.mark.parametrize("service", ["registry", "generator"])
def test_other_services_take_no_cookie(service: str) -> None:
    console = Console()
    console.sign_in()
    headers = {"Cookie": f"{COOKIE}={console.cookie}", TOKEN_HEADER: console.token}
    path = "/v1/rules" if service == "registry" else "/v1/traffic"
    client = app_named(service).test_client(use_cookies=False)
    assert client.get(path, headers=headers).status_code == 401


REQUESTS = [
    ("GET", "/v1/alerts"),
    ("GET", "/v1/alerts/stream"),
    ("GET", "/console/registry/rules"),
    ("PUT", "/console/registry/rules/7"),
    ("POST", "/v1/alerts/00000000-0000-0000-0000-000000000007/acknowledge"),
    ("DELETE", "/v1/session"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize(
    "headers",
    [{}, {TOKEN_HEADER: ""}, {TOKEN_HEADER: "A" * 43}, {TOKEN_HEADER: "\u00e9"}],
    ids=["none", "empty", "wrong", "not ascii"],
)
def test_a_request_without_the_session_s_token_does_nothing(
    method: str, path: str, headers: dict[str, str]
) -> None:
    console = Console()
    console.sign_in()
    answer = console.browser.open(path, method=method, headers=headers)
    assert kind(answer) == (403, CSRF)
    assert [error["field"] for error in answer.get_json()["errors"]] == [f"header.{TOKEN_HEADER}"]
    assert (len(console.store.rows), console.asked) == (1, [])


@pytest.mark.parametrize(("method", "path"), [*REQUESTS, ("GET", "/v1/session")])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"{OWN}:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": OWN},
    ],
    ids=str,
)
def test_a_page_of_another_origin_is_refused_whatever_else_it_sends(
    method: str, path: str, headers: dict[str, str]
) -> None:
    console = Console()
    console.sign_in()
    assert kind(console.ask(path, method, **headers)) == (403, FOREIGN)
    assert (len(console.store.rows), console.asked) == (1, [])


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": OWN},
        {"Sec-Fetch-Site": "same-origin", "Origin": OWN},
        # A proxy in front calls this service by another name than people do.
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://fraud.example"},
    ],
    ids=str,
)
def test_the_own_page_is_let_in(headers: dict[str, str]) -> None:
    console = Console()
    assert console.sign_in(**headers).status_code == 201
    assert console.ask(**headers).status_code == 200


def test_no_page_of_another_origin_signs_a_browser_in() -> None:
    console = Console()
    answer = console.sign_in(Origin="https://evil.example")
    assert kind(answer) == (403, FOREIGN)
    assert "Set-Cookie" not in answer.headers
    assert console.store.rows == {}


def test_a_key_in_the_header_works_as_ever_beside_a_cookie() -> None:
    bob, as_bob = key("bob", "alerts:read")
    console = Console(ADA, bob)
    console.sign_in()
    answer = console.browser.get("/v1/session", headers={**as_bob, "Origin": "https://evil.example"})
    assert {**answer.get_json(), "scopes": None} == {
        "actor": "bob",
        "role": None,
        "scopes": None,
        "expiresAt": None,
        "csrfToken": None,
    }
    assert console.browser.delete("/v1/session", headers=as_bob).status_code == 204
    assert len(console.store.rows) == 1


@pytest.mark.parametrize("cookie", ["", "short", "A" * 43 + "=", "A" * 42 + "é", "A" * 4096])
def test_what_is_no_id_is_no_session(cookie: str) -> None:
    assert kind(Console().ask_with(cookie)) == (401, "urn:tripline:problem:unauthenticated")


def test_a_guessed_id_is_refused_and_taken_back() -> None:
    answer = Console().ask_with("A" * 43)
    assert kind(answer) == (401, ENDED)
    assert SimpleCookie(answer.headers["Set-Cookie"])[COOKIE]["max-age"] == "0"


BODIES: list[Any] = [
    {},
    {"key": ""},
    {"key": 5},
    {"key": SECRET, "more": 1},
    {"key": "a\x00b"},
    {"key": "a\nb"},
]


@pytest.mark.parametrize(
    "body", [*BODIES, {"key": "ü" * 20}, {"key": "a" * 16_385}], ids=lambda body: str(body)[:20]
)
def test_a_body_that_names_no_key_is_refused_with_its_field(body: Any) -> None:
    answer = Console().browser.post("/v1/session", json=body)
    assert answer.status_code == 422
    assert {error["field"] for error in answer.get_json()["errors"]} <= {"key", "more"}
