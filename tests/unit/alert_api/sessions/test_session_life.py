"""The life of a session: no longer than its key's, ended by signing out, bounded in number; guesses are throttled."""

from __future__ import annotations

from dataclasses import replace

from structlog.testing import capture_logs

from alert_api.api.session_cookie import COOKIE, TOKEN_HEADER
from alert_api.errors import StoreUnavailable
from alert_api.service.sessions import LONGEST_MS, MOST_PER_ACTOR
from tests.unit.alert_api.support.samples import key
from tests.unit.alert_api.support.signed_in import ADA, AS_ADA, CSRF, ENDED, NOW, Console, kind
from tripline_http.auth import _EXTENSION
from tripline_http.errors import TokenRefused
from tripline_http.keys.caller import Caller
from tripline_http.keys.failure_buckets import FAILURES


def test_a_withdrawn_key_ends_its_session_with_the_next_request() -> None:
    console = Console()
    console.sign_in()
    console.keys.clear()
    with capture_logs() as lines:
        assert kind(console.ask()) == (401, ENDED)
    assert [line["reason"] for line in lines if line["event"] == "key_ended"] == ["unknown"]
    assert (console.cookie, console.store.rows) == (None, {})
    console.keys.append(ADA)
    assert console.ask().status_code == 401


def test_the_end_of_a_session_is_no_guess() -> None:
    console = Console()
    for _ in range(FAILURES + 1):
        console.keys[:] = [ADA]
        console.sign_in()
        console.keys.clear()
        assert kind(console.ask()) == (401, ENDED)
    assert console.sign_in("no key of anybody here").status_code == 401


def test_wrong_keys_are_throttled_and_a_known_one_is_let_in() -> None:
    console = Console()
    statuses = [console.sign_in("no key of anybody here").status_code for _ in range(FAILURES + 2)]
    assert statuses == [401] * FAILURES + [429] * 2
    refused = console.sign_in("no key of anybody here")
    assert kind(refused) == (429, "urn:tripline:problem:too-many-failures")
    assert int(refused.headers["Retry-After"]) >= 1
    assert "Set-Cookie" not in refused.headers
    assert console.sign_in().status_code == 201


def test_a_session_ends_after_a_working_day() -> None:
    console = Console()
    console.sign_in()
    console.now += LONGEST_MS - 1
    assert console.ask().status_code == 200
    console.now += 1
    assert kind(console.ask()) == (401, ENDED)


def test_a_session_ends_with_its_key() -> None:
    ending = replace(ADA, not_after=NOW / 1000 + 60)
    console = Console(ending)
    assert console.sign_in().get_json()["expiresAt"] == NOW + 60_000
    console.now += 59_999
    assert console.ask().status_code == 200
    console.now += 1
    assert kind(console.ask()) == (401, ENDED)


class Tokens:
    """An issuer's tokens: `good` is one of ada's until it is not."""

    def __init__(self) -> None:
        self.good = "aaaa.bbbb.cccc"

    def takes(self, text: str) -> bool:
        return text.count(".") == 2

    def verify(self, token: str) -> Caller:
        if token != self.good:
            raise TokenRefused("expired", "This token has expired: sign in again.")
        return Caller("oidc:ada", frozenset({"alerts:read"}), "viewer", NOW / 1000 + 300)


def test_a_token_opens_a_session_that_ends_with_it() -> None:
    console, tokens = Console(), Tokens()
    console.app.extensions[_EXTENSION].tokens = tokens
    told = console.sign_in(tokens.good).get_json()
    assert (told["actor"], told["role"], told["expiresAt"]) == ("oidc:ada", "viewer", NOW + 300_000)
    assert console.ask().status_code == 200
    tokens.good = "another"
    assert kind(console.ask()) == (401, ENDED)
    refused = console.sign_in("aaaa.bbbb.cccc")
    assert (refused.status_code, refused.get_json()["detail"]) == (
        401,
        "This token has expired: sign in again.",
    )


def test_signing_out_makes_the_cookie_worthless() -> None:
    console = Console()
    console.sign_in()
    cookie = console.cookie
    answer = console.ask("/v1/session", "DELETE")
    assert (answer.status_code, console.cookie, console.store.rows) == (204, None, {})
    assert kind(console.ask_with(cookie, console.token)) == (401, ENDED)


def test_signing_in_anew_ends_the_session_of_before_and_what_a_page_of_before_sends_is_refused() -> None:
    bob, _ = key("bob", "alerts:read")
    console = Console(ADA, bob)
    console.sign_in()
    of_ada = console.token
    assert console.sign_in("secret key of bob").status_code == 201
    assert [row.actor for row in console.store.rows.values()] == ["bob"]
    assert kind(console.ask(**{TOKEN_HEADER: of_ada})) == (403, CSRF)
    assert console.ask().status_code == 200


def test_an_actor_has_so_many_sessions_and_no_more() -> None:
    console = Console()
    cookies = []
    for _ in range(MOST_PER_ACTOR + 1):
        console.browser.delete_cookie(COOKIE)
        console.now += 1
        console.sign_in()
        cookies.append((console.cookie, console.token))
    assert len(console.store.rows) == MOST_PER_ACTOR
    assert [console.ask_with(*cookie).status_code for cookie in cookies] == [401] + [200] * MOST_PER_ACTOR


def test_a_row_that_was_changed_by_hand_lets_nobody_in() -> None:
    console = Console()
    console.sign_in()
    ((sha256, row),) = console.store.rows.items()
    console.store.rows[sha256] = replace(row, sealed=row.sealed[:-4] + b"AAAA")
    assert kind(console.ask()) == (401, ENDED)


def test_without_its_database_sessions_wait_and_keys_go_on() -> None:
    console = Console()
    console.sign_in()
    console.store.broken = StoreUnavailable("away")
    answer = console.ask()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "Set-Cookie" not in answer.headers
    assert console.browser.get("/v1/alerts", headers=AS_ADA).status_code == 200
    console.store.broken = None
    assert console.ask().status_code == 200
