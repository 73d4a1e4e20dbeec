"""Views are fetched when they are first shown: what a page does not show it does not wait for."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.pictures import picture
from tests.browser.traffic import Tripped

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

MODULES = re.compile(r"/console/files/[0-9a-f]+/(.+\.js)$")


def heading(page: Page, name: str) -> Locator:
    return page.get_by_role("heading", name=name, exact=True)


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=name, exact=True)


def test_a_page_fetches_the_modules_of_its_view_and_another_view_its_own(open_window: OpenWindow) -> None:
    window, fetched = open_window("viewer"), set[str]()

    def note(request: Request) -> None:
        if named := MODULES.search(urlsplit(request.url).path):
            fetched.add(named[1])

    window.page.on("request", note)
    window.go("/lists")
    expect(heading(window.page, "Lists")).to_be_visible()
    # Live gathers what its charts show while other views are open.
    expect(window.page.locator("#live h1")).to_be_attached()
    assert "lists/lists.js" in fetched
    assert {name.partition("/")[0] for name in fetched} == {
        "main.js",
        "core",
        "parts",
        "words",
        "lists",
        "live",
    }
    before = set(fetched)
    tab(window.page, "Controls").click()
    expect(heading(window.page, "Controls")).to_be_visible()
    assert "controls/controls.js" in fetched - before
    assert "lists/lists.js" in before
    window.is_clean()


def test_a_view_that_cannot_be_fetched_says_so_and_a_new_page_has_it(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/lists")
    expect(heading(page, "Lists")).to_be_visible()
    page.route("**/controls/controls.js", lambda route: route.fulfill(status=404))
    tab(page, "Controls").click()
    told = page.get_by_role("alert").filter(has_text="This page could not be loaded")
    expect(told).to_be_visible()
    picture(page, "unfetched")
    # Other views go on.
    tab(page, "Lists").click()
    expect(told).to_be_hidden()
    expect(heading(page, "Lists")).to_be_visible()
    tab(page, "Controls").click()
    expect(told).to_be_visible()
    page.unroute("**/controls/controls.js")
    told.get_by_role("link", name="Load it again").click()
    expect(heading(page, "Controls")).to_be_visible()
    assert urlsplit(page.url).path == "/controls"
    window.is_clean("answered 404")


def test_who_goes_elsewhere_meanwhile_sees_that(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/lists")
    expect(heading(page, "Lists")).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/alerts/alerts.js", hold)
    with page.expect_request("**/alerts/alerts.js"):
        tab(page, "Alerts").click()
    tab(page, "Lists").click()
    expect(heading(page, "Lists")).to_be_visible()
    [route] = held
    with page.expect_request_finished(lambda request: request.url.endswith("/alerts/alerts.js")):
        route.continue_()
    expect(page.locator("#alerts .panel")).to_be_attached()
    expect(page.locator("#alerts")).to_be_hidden()
    # It was made, and was not told to show an address that is left.
    assert page.locator("#alert-list li").count() == 0
    tab(page, "Alerts").click()
    expect(page.locator("#alert-list li").first).to_be_visible()
    expect(heading(page, "Lists")).to_be_hidden()
    window.is_clean()
