"""The page of one rule: how it stands, what it was, and the way back, for who may and for who may not."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.support.rule_work import change_form, row_of, stored
from tests.browser.traffic import Tripped, definition
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

DIFF = "limit 1000000 → 2000000"


def versions_of(page: Page) -> Locator:
    return page.get_by_role("list", name="Versions").locator("> li")


def change(stack: RunningStack, rule: dict[str, Any], reason: str | None = None, **members: object) -> None:
    """Another definition for the rule, by the second analyst."""
    with stack.registry("second-analyst") as registry:
        body = {**definition(rule["name"], limit=1_000_000), **members}
        address = f"/v1/rules/{rule['ruleId']}"
        registry.put(
            address, json=body, headers={"If-Match": "*"}, params={"reason": reason} if reason else {}
        ).raise_for_status()


def test_a_rule_is_edited_and_taken_back(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/rules")
    row_of(page, rule).get_by_role("link", name=rule["name"], exact=True).click()
    expect(page.get_by_role("heading", name=rule["name"])).to_be_visible()
    expect(versions_of(page)).to_have_count(1)
    expect(page.locator("#rule-state")).to_have_text("active")
    expect(page.get_by_text("From here it can be paused or retired for good.")).to_be_visible()

    page.get_by_role("button", name="Edit").click()
    form = change_form(page)
    form.get_by_label("Limit").fill("2000000")
    form.get_by_label("Reason").fill("too many alerts")
    form.get_by_role("button", name="Publish the new version").click()
    expect(versions_of(page)).to_have_count(2)
    expect(page.locator(".compared")).to_have_text(DIFF)
    newest = versions_of(page).first
    expect(newest).to_contain_text("Version 2")
    expect(newest).to_contain_text("published by analyst")
    expect(newest.locator("q")).to_have_text("too many alerts")
    expect(newest.get_by_role("button")).to_have_count(0)

    page.get_by_role("button", name="Revert to version 1").click()
    asked = page.get_by_role("dialog", name=re.compile("Go back to version 1"))
    expect(asked.get_by_role("button", name="Revert to version 1")).to_be_disabled()
    asked.get_by_label("Reason").fill("it was right before")
    asked.get_by_role("button", name="Revert to version 1").click()
    expect(asked).to_be_hidden()
    expect(versions_of(page)).to_have_count(3)
    expect(versions_of(page).first.locator("q")).to_have_text("it was right before")
    expect(page.locator(".compared")).to_have_text("limit 2000000 → 1000000")
    page.get_by_label("From version").select_option("1")
    expect(page.locator(".compared")).to_have_text(re.compile("^effective from "))
    now = stored(stack, rule["ruleId"])
    assert (now["version"], now["definition"]) == (3, rule["definition"])
    expect(page.locator(".rule-page").get_by_text("✓ applied v3")).to_be_visible()
    window.is_clean()


def test_steps_are_those_of_the_state_and_ask_for_a_reason(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    page = window.page
    window.go(f"/rules/{rule['ruleId']}")
    page.get_by_role("button", name="Pause").click()
    asked = page.get_by_role("dialog", name=re.compile("Pause"))
    asked.get_by_label("Reason").fill("it floods")
    asked.get_by_role("button", name="Pause the rule").click()
    expect(page.locator("#rule-state")).to_have_text("paused")
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(versions_of(page).first).to_contain_text("it floods")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name=re.compile("Delete")).get_by_role(
        "button", name="Delete the rule"
    ).click()
    expect(page.locator("#rule-state")).to_have_text("retired")
    expect(page.locator(".rule-page").get_by_role("button")).to_have_count(0)
    expect(versions_of(page)).to_have_count(3)
    page.get_by_label("From version").select_option("1")
    expect(page.locator(".compared").get_by_role("row", name="State active deleted")).to_be_visible()
    window.is_clean("answered 404")


def test_a_rule_with_an_end_says_so_and_that_it_has_come(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    page = window.page
    change(stack, rule, effectiveUntil=round(time.time() * 1000) + 20_000)
    window.go(f"/rules/{rule['ruleId']}")
    expect(page.locator("#rule-state")).to_have_text("active")
    expect(page.locator(".rule-page dt").filter(has_text="Judges until")).to_be_visible()
    expect(page.locator("#rule-state")).to_have_text("ended")
    expect(page.locator(".life [aria-current]")).to_have_text("ended")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    window.is_clean()


def test_the_address_keeps_what_is_compared(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    change(stack, rule, limit="2000000")
    change(stack, rule, limit="3000000", reason="still too many")
    window = open_window("viewer")
    page = window.page
    window.go(f"/rules/{rule['ruleId']}?from=1&to=2")
    expect(page.locator(".compared")).to_have_text(DIFF)
    page.get_by_label("To version").select_option("3")
    expect(page.locator(".compared")).to_have_text("limit 1000000 → 3000000")
    assert page.url.endswith(f"/rules/{rule['ruleId']}?from=1&to=3")
    page.reload()
    expect(page.locator(".compared")).to_have_text("limit 1000000 → 3000000")
    expect(page).to_have_title(f"{rule['name']} – Tripline")
    expect(versions_of(page)).to_have_count(3)
    expect(page.locator(".rule-page").get_by_role("button")).to_have_count(0)
    page.get_by_role("link", name="All rules").click()
    expect(page.get_by_role("heading", name="Rules", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name=rule["name"])).to_be_visible()
    window.is_clean()


def test_an_id_that_no_rule_has_is_said(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/rules/2147483647")
    expect(window.page.get_by_text("There is no rule 2147483647.")).to_be_visible()
    window.is_clean("answered 404")


def test_a_long_history_comes_by_pages(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    with stack.registry() as registry:
        for number in range(44):
            verb = ("pause", "resume")[number % 2]
            registry.post(f"/v1/rules/{rule['ruleId']}/{verb}", headers={"If-Match": "*"}).raise_for_status()
    window = open_window("viewer")
    page = window.page
    window.go(f"/rules/{rule['ruleId']}?version=3")
    expect(page.locator("[aria-current=true]")).to_contain_text("Version 3")
    expect(versions_of(page)).to_have_count(21)
    expect(versions_of(page).first).to_contain_text("Version 45")
    older = page.get_by_role("button", name="Show older versions")
    older.click()
    expect(versions_of(page)).to_have_count(41)
    older.click()
    expect(versions_of(page)).to_have_count(45)
    expect(older).to_be_hidden()
    window.is_clean()


def test_alerts_and_trail_lead_to_the_rule(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    rule_id, name = tripped.rule["ruleId"], tripped.rule["name"]
    window = open_window("auditor")
    page = window.page
    window.go(f"/alerts/{tripped.alerts[0]['alertId']}")
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    assert page.url.endswith(f"/rules/{rule_id}?version=1")
    expect(page.locator("[aria-current=true]")).to_contain_text("Version 1")
    alerts = page.get_by_role("list", name="Its newest alerts").get_by_role("listitem")
    expect(alerts).to_have_count(5)
    expect(alerts.first).to_contain_text("by v1")
    page.get_by_role("link", name="All its alerts").click()
    rows = page.locator("#alert-list li")
    expect(rows).to_have_count(len(tripped.alerts))
    rows.first.get_by_role("link", name=f"Rule {name}, version 1").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("link", name="who did what with it").click()
    page.get_by_role("link", name=f"rule {rule_id}", exact=True).first.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    window.is_clean()


PURPOSE = {
    "description": "Cards are tried out with many small payments.\nThen comes a large one.",
    "severity": "high",
    "tags": ["card-testing", "velocity"],
    "owner": "Team Cards",
    "playbook": "https://playbooks.example/card-testing",
}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_it_fits_its_window(
    open_window: OpenWindow,
    stack: RunningStack,
    rule: dict[str, Any],
    tripped: Tripped,
    width: int,
    scheme: str,
) -> None:
    """With alerts, and with all that can be said of a rule."""
    path = f"/v1/rules/{rule['ruleId']}"
    change(stack, rule, "cards are tested at night now", limit="0.5", windowSeconds=7200)
    with stack.registry() as registry:
        registry.put(f"{path}/purpose", json=PURPOSE, headers={"If-Match": "*"}).raise_for_status()
        registry.post(f"{path}/pause", headers={"If-Match": "*"}, params={"reason": "it floods"})
    window = open_window("analyst", viewport={"width": width, "height": 844}, color_scheme=scheme)
    window.go(f"/rules/{rule['ruleId']}?from=1&to=2")
    page = window.page
    expect(page.get_by_role("list", name="Likely wrong")).to_be_visible()
    expect(page.get_by_role("link", name="Playbook")).to_be_visible()
    expect(page.locator(".compared")).to_have_text("limit 1000000 → 0.5; window 1 min → 2 h")
    fits(window, width)
    picture(page, f"rule-said-{width}-{scheme}", full_page=True)
    page.get_by_role("button", name="Edit").click()
    fits(window, width)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Revert to version 1").click()
    expect(page.get_by_role("dialog", name=re.compile("Go back"))).to_be_visible()
    picture(page, f"rule-revert-{width}-{scheme}")
    page.keyboard.press("Escape")
    window.go(f"/rules/{tripped.rule['ruleId']}")
    expect(versions_of(page).first).to_contain_text("paused by")
    expect(page.locator(".compared")).not_to_be_empty()
    fits(window, width)
    picture(page, f"rule-{width}-{scheme}", full_page=True)
    window.is_clean()
