"""Signing in and out: the browser has a cookie that no script sees, and no page keeps the key."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Response, expect

from alert_api.api.session_cookie import COOKIE, TOKEN_HEADER
from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.support.signed_in import SIGN_IN
from tests.browser.traffic import Tripped
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

KEPT = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}, document.documentElement.outerHTML])"
ENDED = "Your session has ended. Sign in again."


def tabs(page: Page) -> Any:
    return page.get_by_role("navigation", name="Views")


def test_a_key_is_exchanged_for_a_cookie_and_kept_nowhere(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    window, key = open_window(None), stack.file["apiKeys"]["analyst"]
    page, carried = window.page, []

    def note(response: Response) -> None:
        """Of what was answered: a request that a change of page ends may never have got its cookie."""
        request = response.request
        headers = request.all_headers()
        carried.append((request.method, request.url, headers, request.post_data or ""))

    page.on("response", note)
    window.sign_in(key)
    expect(page.get_by_text("Signed in as analyst")).to_be_visible()
    expect(page.locator("#live .alerts > li").first).to_be_visible()
    assert page.evaluate("scrollY") == 0, "the view is seen from its top"
    window.go("/alerts")
    expect(page.locator("#alert-list li").first).to_be_visible()
    [cookie] = page.context.cookies()
    assert (cookie["name"], cookie["secure"], cookie["httpOnly"]) == (COOKIE, True, True)
    assert (cookie["sameSite"], cookie["path"], cookie["expires"]) == ("Strict", "/", -1)
    assert key not in page.evaluate(KEPT)
    assert cookie["value"] not in page.evaluate(KEPT)
    assert page.locator("#key").input_value() == ""
    assert [method for method, url, _, body in carried if key in body] == ["POST"]
    assert not [url for _, url, headers, _ in carried if key in url or key in str(headers)]
    streams = [headers for _, url, headers, _ in carried if url.endswith("/v1/alerts/stream")]
    assert streams
    assert {(COOKIE in headers["cookie"], "authorization" in headers) for headers in streams} == {
        (True, False)
    }
    # Before it is signed in the page asks whether it is.
    window.is_clean("answered 401")


def test_a_page_that_is_loaded_again_goes_on_and_so_does_another_window(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/rules")
    expect(window.page.get_by_text("Signed in as viewer")).to_be_visible()
    window.page.reload()
    expect(window.page.get_by_text("Signed in as viewer")).to_be_visible()
    other = window.page.context.new_page()
    other.goto(f"{window.base}/alerts")
    expect(other.get_by_text("Signed in as viewer")).to_be_visible()
    window.is_clean()


def test_a_key_that_is_not_known_is_refused_in_words(open_window: OpenWindow) -> None:
    window = open_window(None)
    window.go("/alerts")
    for key in ("wrong", "schl\u00fcssel", "long enough to be a key"):
        window.page.get_by_label("API key").fill(key)
        window.page.get_by_role("button", name="Sign in").click()
        expect(window.page.get_by_text("This key is not known here.")).to_be_visible()
        expect(tabs(window.page)).to_be_hidden()
    assert window.page.context.cookies() == []
    window.is_clean("answered 401")


def test_signing_out_ends_the_session_in_all_windows(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page = window.page
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}")
    expect(page.locator("#alert-list li").first).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{window.base}/rules")
    expect(tabs(other)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_focused()
    expect(page.get_by_text(tripped.rule["name"])).to_have_count(0)
    assert page.context.cookies() == []
    expect(other.get_by_text(ENDED)).to_be_visible()
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()
    expect(page.locator("#key-error")).to_have_text("")
    window.is_clean("answered 401")


def test_a_session_that_has_ended_is_said_so(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    window.go("/rules")
    expect(tabs(window.page)).to_be_visible()
    [cookie] = window.page.context.cookies()
    headers = {"Cookie": f"{COOKIE}={cookie['value']}"}
    with httpx.Client(base_url=window.base, headers=headers, verify=False, trust_env=False) as elsewhere:
        token = elsewhere.get("/v1/session").raise_for_status().json()["csrfToken"]
        assert elsewhere.delete("/v1/session", headers={TOKEN_HEADER: token}).status_code == 204
    expect(window.page.get_by_text(ENDED)).to_be_visible()
    expect(window.page.get_by_text(tripped.rule["name"])).to_have_count(0)
    assert window.page.context.cookies() == []


def test_a_window_never_acts_as_somebody_who_signed_in_in_another_one(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/rules")
    expect(page.get_by_text("Signed in as viewer")).to_be_visible()
    expect(page.get_by_role("button", name="New rule")).to_be_hidden()
    other = page.context.new_page()
    other.goto(f"{window.base}/livez")
    assert other.evaluate(SIGN_IN, stack.file["apiKeys"]["analyst"]) == 201
    expect(page.get_by_text("This browser is signed in as analyst now.")).to_be_visible()
    expect(page.locator("#who")).to_have_text("Signed in as analyst")
    expect(page.get_by_role("button", name="New rule")).to_be_enabled()


@pytest.fixture
def elsewhere(open_window: OpenWindow) -> tuple[Page, str]:
    """A page of another origin in a signed-in browser: `localhost`, to which the console is 127.0.0.1."""
    window = open_window("analyst")
    foreign = window.base.replace("127.0.0.1", "localhost")
    assert foreign != window.base
    page = window.page.context.new_page()
    page.goto(f"{foreign}/livez")
    return page, window.base


ATTACK = """async ([url, method, headers]) => {
    const options = { method, headers, mode: "no-cors", credentials: "include" };
    try { return (await fetch(url, options)).type; } catch (error) { return String(error); }
}"""


def test_a_page_of_another_origin_signs_nobody_out(elsewhere: tuple[Page, str]) -> None:
    page, base = elsewhere
    assert page.evaluate(ATTACK, [f"{base}/v1/session", "POST", {}]) == "opaque"
    # A method or a header that a form cannot send is asked for before, and nobody allows it.
    assert "TypeError" in page.evaluate(
        ATTACK.replace("no-cors", "cors"), [f"{base}/v1/session", "DELETE", {}]
    )
    headers = {TOKEN_HEADER: "x"}
    assert "TypeError" in page.evaluate(
        ATTACK.replace("no-cors", "cors"), [f"{base}/v1/alerts", "GET", headers]
    )
    console = page.context.new_page()
    console.goto(f"{base}/rules")
    expect(console.get_by_text("Signed in as analyst")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_form_fits(open_window: OpenWindow, scheme: str, width: int) -> None:
    window = open_window(None, viewport={"width": width, "height": 844}, color_scheme=scheme)
    window.go("/")
    window.page.get_by_label("API key").fill("wrong")
    window.page.get_by_role("button", name="Sign in").click()
    expect(window.page.get_by_role("alert").filter(has_text="not known")).to_be_visible()
    fits(window, width)
    picture(window.page, f"sign-in-{width}-{scheme}")
    window.is_clean("answered 401")
