"""Alerts are filtered and found again, whatever happens to the connection; commands are asked about first."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import Tripped
from tests.stack import RunningStack

# the page's own module, which knows of the pressed pointer: by another address it would be another one
MORE_ON_TOP = """async () => {
    const own = document.querySelector("script[type=module]").src;
    const { arrange, byId, element } = await import(new URL("core/dom.js", own));
    arrange(byId("alert-list"), [element("li", {}, "Another one"), ...byId("alert-list").children]);
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def test_filters_stand_in_the_address_and_the_address_sets_them(
    open_window: OpenWindow, tripped: Tripped
) -> None:
    window = open_window("viewer")
    page = window.page
    group = tripped.alerts[0]["group"]["payeeId"]
    rule_id = tripped.rule["ruleId"]
    window.go(f"/alerts?ruleId={rule_id}")
    expect(page.locator("#alert-list li")).to_have_count(len(tripped.alerts))
    expect(page.locator("#rule-filter")).to_have_value(str(rule_id))
    page.get_by_role("searchbox", name="Group value").fill("no such payer")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No alert fits these filters.")).to_be_visible()
    page.get_by_role("searchbox", name="Group value").fill(group)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"ruleId={rule_id}&group=payeeId%3A{group}$"))
    expect(page.locator("#alert-list li")).to_have_count(len(tripped.alerts))
    page.go_back()
    expect(page.get_by_text("No alert fits these filters.")).to_be_visible()
    page.go_forward()
    page.locator("#alert-list a").first.click()
    expect(page.get_by_role("heading", name="What counted")).to_be_visible()
    page.get_by_role("link", name="All alerts").click()
    expect(page).to_have_url(re.compile(rf"/alerts\?ruleId={rule_id}&group=payeeId%3A{group}$"))
    between = f"from={tripped.alerts[-1]['eventTime'] + 1}&to={tripped.alerts[0]['eventTime'] - 1}"
    window.go(f"/alerts?ruleId={rule_id}&{between}")
    inside = [alert for alert in tripped.alerts if tripped.alerts[-1]["eventTime"] < alert["eventTime"]]
    inside = [alert for alert in inside if alert["eventTime"] < tripped.alerts[0]["eventTime"]]
    expect(page.locator("#alert-list li")).to_have_count(len(inside))
    window.go(f"/alerts?ruleId={rule_id}&minAmount=123456789012345.5")
    expect(page.get_by_text("No alert fits these filters.")).to_be_visible()
    at_least = page.locator('input[aria-label^="At least"]')
    expect(at_least).to_have_value("123456789012345.5")
    at_least.fill("0.01")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"ruleId={rule_id}&minAmount=0.01$"))
    expect(page.locator("#alert-list li")).to_have_count(len(tripped.alerts))
    page.get_by_label("State of the case").select_option(label="Case resolved")
    expect(page).to_have_url(
        re.compile(r"minAmount=0.01&caseState=resolved$|caseState=resolved&minAmount=0.01$")
    )
    window.is_clean()


def test_no_filter_is_offered_before_the_address_is_read(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page, rule_id = window.page, tripped.rule["ruleId"]
    page.route("**/v1/session", lambda route: route.abort())
    window.go(f"/alerts?ruleId={rule_id}")
    expect(page.get_by_text("The alert service does not answer.")).to_be_visible()
    expect(page.get_by_label("Voided payments")).to_be_hidden()
    page.unroute("**/v1/session")
    page.get_by_label("Voided payments").select_option(label="On none that was voided")
    expect(page).to_have_url(re.compile(rf"/alerts\?ruleId={rule_id}&voided=false$"))
    expect(page.locator("#alert-list li")).to_have_count(len(tripped.alerts))


def test_a_list_stands_still_under_a_pressed_pointer(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page, items = window.page, window.page.locator("#alert-list li")
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}")
    page.locator("#alert-list a").first.hover()
    page.mouse.down()
    page.evaluate(MORE_ON_TOP)
    expect(items).to_have_count(len(tripped.alerts))
    page.mouse.up()
    expect(page.get_by_role("heading", name="What counted")).to_be_visible()
    expect(items).to_have_count(len(tripped.alerts) + 1)
    window.is_clean()


def test_an_address_with_a_filter_that_is_none_is_answered_in_words(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/alerts?ruleId=x")
    expect(window.page.get_by_text("This filter is not one")).to_be_visible()
    window.go("/alerts/00000000-0000-0000-0000-000000000000")
    expect(window.page.get_by_text("There is no such alert.")).to_be_visible()


def test_a_command_is_asked_about_first_and_then_recorded(open_window: OpenWindow) -> None:
    window = open_window("ops")
    page = window.page
    window.go("/controls")
    page.get_by_role("button", name="Delete all rules").click()
    dialog = page.get_by_role("dialog", name="Delete all rules?")
    expect(dialog.get_by_role("button", name="Delete all rules")).to_be_disabled()
    dialog.get_by_label("Type").fill("DELETE_RULES")
    expect(dialog.get_by_role("button", name="Delete all rules")).to_be_disabled()
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Ask the engine").click()
    page.get_by_role("dialog").get_by_role("button", name="Ask the engine").click()
    done = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
    expect(done).to_contain_text("Have the engine name its rules")
    expect(done).to_contain_text("by ops")
    expect(done).to_contain_text(
        re.compile(r"The engine holds the (1 rule|\d+ rules) that the registry published\.")
    )
    window.is_clean()


def test_after_an_interruption_nothing_is_missing(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    window = open_window("analyst")
    page = window.page
    page.route("**/v1/alerts/stream", lambda route: route.abort())
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}")
    expect(page.locator("#notice")).to_contain_text("The alert service does not answer.")
    last = tripped.alerts[-1]["alertId"]
    with stack.alerts("second-analyst") as alerts:
        alerts.post(f"/v1/alerts/{last}/acknowledge").raise_for_status()
    row = page.locator("#alert-list li").last
    expect(row.get_by_role("button")).to_be_visible()
    page.unroute("**/v1/alerts/stream")
    expect(row.get_by_text("✓ second-analyst")).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()
