"""The story: write a rule, see it applied, see it tripped, open the alert, acknowledge it, see that elsewhere.

And the same with a rule of several conditions.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import delete_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

NAME = "Story: one card, many payments"
WAIT_MS = 90_000
SAID = (
    "All of: number of payments per payer within 1 minute > parameter story-many, "
    "only where payment type is in the list story-cards; "
    "not sum of amount per payer within 1 hour > 900,000,000"
)


def test_from_a_rule_to_an_acknowledged_alert(open_window: OpenWindow, stack: RunningStack) -> None:
    ada, bob, olga = open_window(None), open_window("second-analyst"), open_window("ops")
    page = ada.page
    ada.sign_in(stack.file["apiKeys"]["analyst"])
    olga.go("/live")
    try:
        write_the_rule(page)
        see_live_traffic_trip_it(page, olga.page)
        open_the_alert(page, bob)
        acknowledge_it(page, bob)
        traffic = olga.page.get_by_role("region", name="Traffic generator")
        traffic.get_by_role("button", name="Stop").click()
        expect(traffic.get_by_text("Sends nothing.")).to_be_visible()
        for window in (ada, bob, olga):
            window.is_clean()
    finally:
        with stack.generator() as generator:
            generator.put("/v1/traffic", json={"rate": 0})
        delete_rules(stack, NAME)


def write_the_rule(page: Page) -> None:
    """And see it applied."""
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("button", name="New rule").click()
    dialog = page.get_by_role("dialog", name="New rule")
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_label("Aggregate").select_option("COUNT")
    dialog.get_by_label("Limit").fill("15")
    dialog.get_by_label("within").fill("1")
    dialog.get_by_label("Unit of the window").select_option(label="minutes")
    expect(dialog.get_by_text("Number of payments per payer within 1 minute > 15")).to_be_visible()
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog).to_be_hidden()
    rule = page.get_by_role("listitem").filter(has_text=NAME)
    expect(rule.get_by_text("published v1")).to_be_visible()
    expect(rule.get_by_text("✓ applied v1")).to_be_visible(timeout=WAIT_MS)


def see_live_traffic_trip_it(page: Page, operated: Page) -> None:
    """An operator plays a fraud amid the generator's payments."""
    page.get_by_role("link", name="Live", exact=True).click()
    traffic = operated.get_by_role("region", name="Traffic generator")
    traffic.get_by_role("slider").fill("4")
    expect(traffic.get_by_role("status")).to_have_text("20 a second")
    traffic.get_by_role("button", name="Start").click()
    expect(traffic.get_by_text(re.compile(r"Sends \d+(\.\d)? of 20 payments a second"))).to_be_visible()
    expect(page.get_by_role("region", name="Sampled payments").get_by_role("row")).to_have_count(9)
    traffic.get_by_role("button", name="Play: Card testing").click()
    lamps = page.get_by_role("region", name="Rules that fire")
    lamp = lamps.get_by_role("listitem").filter(has_text=NAME)
    expect(lamp).to_have_attribute("data-lit", "true", timeout=WAIT_MS)
    expect(lamp.get_by_text(re.compile(r"\d+ in a minute"))).to_be_visible()


def open_the_alert(page: Page, bob: Window) -> None:
    """Somebody else looks at the same alert."""
    newest = page.get_by_role("region", name="Newest alerts")
    newest.get_by_role("link").filter(has_text=NAME).first.click()
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"Window from .* payments counted"))).to_be_visible()
    alert_id = page.url.rpartition("/")[2]
    bob.go(f"/alerts/{alert_id}")
    expect(bob.page.get_by_role("button", name="Acknowledge")).to_be_enabled()


def acknowledge_it(page: Page, bob: Window) -> None:
    """And see it acknowledged in the second window, which nobody touched."""
    page.get_by_role("button", name="Acknowledge").click()
    question = page.get_by_role("dialog", name="Acknowledge this alert")
    question.get_by_label("Comment").fill("Called the payer")
    question.get_by_role("button", name="Acknowledge").click()
    expect(question).to_be_hidden()
    expect(page.get_by_role("article").get_by_text("✓ analyst")).to_be_visible()
    expect(page.get_by_text("Called the payer")).to_be_visible()

    # See it acknowledged in the second window, which nobody touched.
    expect(bob.page.get_by_role("article").get_by_text("✓ analyst")).to_be_visible()
    expect(bob.page.get_by_role("button", name="Acknowledge")).to_be_hidden()
    expect(bob.page.get_by_text("Acknowledged by analyst")).to_be_visible()


def delete_rules(stack: RunningStack, name: str) -> None:
    """All of that name."""
    with stack.registry() as registry:
        for item in registry.get("/v1/rules", params={"name": name}).json()["items"]:
            delete_rule(stack, item["ruleId"])


def test_a_rule_of_several_conditions(open_window: OpenWindow, stack: RunningStack) -> None:
    name = "Story: many payments, and not much money"
    window = open_window("analyst")
    page = window.page
    with stack.registry() as registry:
        registry.put("/v1/lists/story-cards", json={"values": ["CRD"]}).raise_for_status()
        registry.put("/v1/parameters/story-many", json={"value": "15"}).raise_for_status()
    window.go("/rules")
    try:
        dialog = fill_in_both_conditions(page, name)
        expect(dialog.get_by_text(SAID)).to_be_visible()
        dialog.get_by_role("button", name="Publish").click()
        expect(dialog).to_be_hidden()
        rule = page.get_by_role("listitem").filter(has_text=name)
        expect(rule.get_by_text(SAID)).to_be_visible()
        expect(rule.get_by_text("✓ applied v1")).to_be_visible(timeout=WAIT_MS)

        # See a played fraud trip it, and what each condition came to.
        with stack.generator() as generator:
            generator.post("/v1/scenarios/card-testing/plays").raise_for_status()
        page.get_by_role("link", name="Alerts", exact=True).click()
        alert = (
            page.get_by_role("list", name="Alerts, newest first").get_by_role("link").filter(has_text=name)
        )
        expect(alert.first).to_contain_text("1 of 2 conditions", timeout=WAIT_MS)
        alert.first.click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        conditions = page.locator(".judged-condition")
        expect(conditions.nth(0)).to_contain_text(
            re.compile(r"1\. Number of payments per payer within 1 minute.*> 15.*holds")
        )
        expect(conditions.nth(1)).to_contain_text(
            re.compile(r"2\. Sum of amount per payer within 1 hour.*> 900,000,000.*does not hold")
        )
        window.is_clean()
    finally:
        delete_rules(stack, name)


def fill_in_both_conditions(page: Page, name: str) -> Locator:
    """Many card payments by one payer, and not a payer who spends a fortune in an hour.

    How many is a parameter's, and what a card payment is stands in a list.
    """
    page.get_by_role("button", name="New rule").click()
    dialog = page.get_by_role("dialog", name="New rule")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("The rule is").select_option("several")
    many = dialog.get_by_role("group", name="Condition 1")
    many.get_by_label("Aggregate").select_option("COUNT")
    many.get_by_label("given as").select_option("parameter")
    many.get_by_label("Limit").fill("story-many")
    many.get_by_label("within").fill("1")
    many.get_by_label("Unit of the window").select_option(label="minutes")
    many.get_by_text("Only some of the payments").click()
    many.get_by_role("button", name="Add a condition").click()
    many.get_by_label("Comparison").select_option(label="is in the list")
    many.get_by_label("Value").fill("story-cards")
    dialog.get_by_role("button", name="Add a condition to the rule").click()
    rich = dialog.get_by_role("group", name="Condition 2")
    rich.get_by_label("not: the rule wants it not to hold").check()
    rich.get_by_label("Limit").fill("900,000,000")
    return dialog
