"""Everything can be reached and done without a mouse, and has a name to be called by."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import Tripped
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select, textarea, dialog")]
    .filter((node) => node.checkVisibility())
    .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length
        || node.getAttribute("aria-labelledby")))
    .map((node) => node.outerHTML.slice(0, 120))"""
# A choice of one among several is drawn by the label's text; the radio button itself is not to be seen.
RING = """() => { const { activeElement: at } = document;
    const style = getComputedStyle(at.type === "radio" ? at.nextElementSibling : at);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2; }"""


def focused(page: Page) -> str:
    """The text of what has the focus."""
    text: str = page.evaluate("document.activeElement.textContent.trim()")
    return text


def tab_to(page: Page, text: str, most: int = 60) -> None:
    """Presses Tab until the focus is there; each stop on the way shows where it is."""
    for _ in range(most):
        page.keyboard.press("Tab")
        assert page.evaluate(RING), page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        if focused(page) == text:
            return
    pytest.fail(f"Tab did not lead to {text!r}")


def test_an_alert_is_acknowledged_by_keyboard_alone(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    window = open_window(None)
    page = window.page
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}&state=open")
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type(stack.file["apiKeys"]["analyst"])
    page.keyboard.press("Enter")
    expect(page.locator("#alert-list li").first).to_be_visible()
    listed = page.locator("#alert-list li").count()

    page.keyboard.press("Tab")
    page.evaluate("document.body.focus()")
    tab_to(page, "Acknowledge")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Acknowledge this alert")
    expect(dialog.get_by_label("Comment")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(page) == "Acknowledge", "the focus goes back to where it was"
    page.keyboard.press("Enter")
    page.keyboard.type("by keyboard")
    tab_to(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#alert-list").get_by_text("✓ analyst").first).to_be_visible()
    assert page.locator("#alert-list li").count() == listed
    window.is_clean()


def test_the_first_tab_skips_to_the_content(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/controls")
    window.shows("Controls")
    window.page.keyboard.press("Tab")
    assert focused(window.page) == "Skip to content"
    window.page.keyboard.press("Enter")
    expect(window.page.locator("#workspace")).to_be_focused()


def test_views_are_changed_by_keyboard_and_gone_back_to(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/live")
    window.shows("Live")
    tab_to(window.page, "Rules")
    window.page.keyboard.press("Enter")
    window.shows("Rules")
    assert window.page.url.endswith("/rules")
    window.page.go_back()
    window.shows("Live")


def test_a_rule_is_begun_and_given_up_by_keyboard(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/rules")
    expect(page.get_by_role("button", name="New rule")).to_be_enabled()
    tab_to(page, "New rule")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New rule").get_by_label("Name")).to_be_focused()
    page.keyboard.type("Never published")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="New rule")).to_be_hidden()
    assert focused(page) == "New rule"


@pytest.mark.parametrize("who", ["analyst", "ops", "admin"])
def test_everything_has_a_name(open_window: OpenWindow, tripped: Tripped, who: str) -> None:
    window = open_window(who)
    paths = ["/live", "/rules", "/alerts", f"/alerts/{tripped.alerts[0]['alertId']}", "/controls"]
    for path in [*paths, "/keys"] if who == "admin" else paths:
        window.go(path)
        expect(window.page.locator(".panel:visible").first).to_be_visible()
        assert window.page.evaluate(NAMELESS) == [], path


def test_everything_in_the_form_of_a_rule_has_a_name(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    window.go("/rules")
    window.page.get_by_role("button", name="New rule").click()
    window.page.get_by_label("Begin with").select_option(label="Card testing")
    assert window.page.evaluate(NAMELESS) == [], "the form"
