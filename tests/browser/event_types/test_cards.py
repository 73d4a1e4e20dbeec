"""The console of a line that judges card authorisations: what it says, offers and shows is the event type's.

In `make soak`, with `e2e/event_types/test_card_authorisations.py`: `make test` has a line of another type.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.rule_work import stored
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.soak, pytest.mark.timeout(600)]

WAIT_MS = 90_000
NAME = "More than 6 different cards on one device within ten minutes"


@pytest.fixture
def stack(browser: Browser, request: pytest.FixtureRequest) -> RunningStack:
    """In place of the one that all other tests look at; without a browser it is not started."""
    del browser
    running_stack: RunningStack = request.getfixturevalue("card_line")
    return running_stack


def test_a_rule_and_an_alert_are_in_the_words_of_the_type(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window(None)
    page = window.page
    window.go("/")
    expect(page.get_by_text("Authorisations are being watched.")).to_be_visible()
    window.sign_in(stack.file["apiKeys"]["analyst"])

    write_a_rule(page)
    with stack.registry() as registry:
        (made,) = [rule for rule in registry.get("/v1/rules").json()["items"] if rule["name"] == NAME]
    definition = stored(stack, made["ruleId"])["definition"]
    assert definition["groupingKeyNames"] == ["deviceId"]
    assert definition["filter"] == {"field": "entryMode", "operator": "=", "value": "ONLINE"}
    operator = open_window("ops")
    trip_it(page, operator)
    look_at_the_alert(page)
    find_it_by_its_group(window)
    window.is_clean()


def write_a_rule(page: Page) -> None:
    """What there is to choose from is the type's."""
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog", name="New rule")
    grouped = form.get_by_role("group", name="Grouped by").get_by_role("checkbox")
    expect(grouped).to_have_count(6)
    labels = ["card", "merchant", "device", "merchant category", "entry mode", "amount"]
    expect(form.locator(".keys label")).to_have_text([re.compile(f"^\\s*{label}$") for label in labels])
    expect(form.get_by_text("Only authorisations where")).to_be_visible()
    expect(form.get_by_label("card", exact=True)).to_be_checked()
    form.get_by_label("Begin with").select_option(label="One device, many cards")
    expect(form.get_by_label("Name")).to_have_value(NAME)
    words = form.get_by_text("Number of different cards per device within 10 minutes > 6")
    expect(words).to_be_visible()
    form.get_by_role("button", name="Add a condition").click()
    expect(form.get_by_label("Field").last).to_have_value("entryMode")
    offered = [
        "entry mode",
        "amount",
        "card",
        "merchant",
        "device",
        "merchant category",
        "authorised",
        "came in",
    ]
    expect(form.get_by_label("Field").last.locator("option")).to_have_text(offered)
    form.get_by_label("Value").fill("ONLINE")
    form.get_by_role("button", name="Publish").click()
    expect(form).to_be_hidden()
    rule = page.get_by_role("listitem").filter(has_text=NAME)
    expect(rule.get_by_text("✓ applied v1")).to_be_visible(timeout=WAIT_MS)


def trip_it(page: Page, operator: Window) -> None:
    """The traffic, its frauds and what flows are the type's too."""
    page.get_by_role("link", name="Live", exact=True).click()
    operator.go("/live")
    played = operator.page.get_by_role("button", name="Play: One device, many cards")
    played.click()
    said = re.compile(r"14 authorisations in \d+ s, device d\d+")
    expect(operator.page.get_by_text(said)).to_be_visible()
    sampled = page.get_by_role("region", name="Sampled authorisations")
    head = ["Time", "Card", "Merchant", "Device", "Merchant category", "Entry mode", "Amount"]
    expect(sampled.get_by_role("columnheader")).to_have_text(head)
    expect(sampled.get_by_role("cell", name="ONLINE").first).to_be_visible()
    newest = page.get_by_role("region", name="Newest alerts")
    newest.get_by_role("link").filter(has_text=NAME).first.click(timeout=WAIT_MS)


def look_at_the_alert(page: Page) -> None:
    """Its page speaks of authorisations."""
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    expect(page.get_by_role("heading", name="The authorisation")).to_be_visible()
    shown = page.locator(".detail section", has=page.get_by_role("heading", name="The authorisation"))
    names = ["authorisation", "authorised", "card", "merchant", "device", "merchant category", "entry mode"]
    expect(shown.locator("dt")).to_have_text([*names, "amount", "came in"])
    expect(page.get_by_role("group", name="Different cards").locator(".tag")).not_to_have_count(0)
    expect(page.get_by_role("columnheader", name="Card", exact=True)).to_be_visible()
    expect(page.locator("tr.trips")).to_have_count(1)


def find_it_by_its_group(window: Window) -> None:
    """The filter offers the type's fields."""
    page = window.page
    device = page.locator(".alert-head .tag b").first.inner_text()
    window.go("/alerts")
    page.get_by_label("Group field").select_option(label="device")
    page.get_by_role("searchbox", name="Group value").fill(device)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"group=deviceId%3Ad\d+"))
    expect(page.get_by_role("list", name="Alerts, newest first").get_by_role("link").first).to_be_visible()
