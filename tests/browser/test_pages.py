"""Every view at both widths and in both colour schemes: nothing overflows, nothing is refused, nothing fails."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.accessibility import serious_faults
from tests.browser.support.payer_case import case_of
from tests.browser.support.pictures import picture
from tests.browser.traffic import Tripped
from tests.browser.windows import Window, answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

EXAMPLES = resources.files("tripline_contracts").joinpath("examples")
INLINE = """() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = 1";
    document.body.append(script);
}"""
BEGUN_IN: dict[int, Literal["dark", "light"]] = {390: "dark", 1280: "light"}
OTHER: dict[str, Literal["dark", "light"]] = {"light": "dark", "dark": "light"}
BACKGROUND = {"light": "rgb(244, 246, 249)", "dark": "rgb(12, 16, 22)"}


def views(tripped: Tripped, case_id: int) -> dict[str, tuple[str, str, str]]:
    """Who may do what there is to do there, the address, and a text that is there when the view is."""
    name = tripped.rule["name"]
    return {
        "live": ("ops", "/live", name),
        "health": ("ops", "/health", "Alert projector"),
        "cases": ("analyst", "/cases?state=all", "alerts in"),
        "case": ("analyst", f"/cases/{case_id}", "Time line"),
        "snoozes": ("analyst", "/cases/snoozes", "What a snooze covers"),
        "webhooks": ("ops", "/webhooks", "New webhook"),
        "rules": ("analyst", "/rules", "✓ applied"),
        "backtests": ("analyst", "/rules/backtests", "Which alerts a rule would have given"),
        "mappings": ("analyst", "/rules/mappings", "leave this browser"),
        "lists": ("analyst", "/lists", "New parameter"),
        "alerts": ("analyst", f"/alerts?ruleId={tripped.rule['ruleId']}", name),
        "alert": ("ops", f"/alerts/{tripped.alerts[0]['alertId']}", "What counted"),
        "changes": ("ops", "/changes", "Changes"),
        "audit": ("auditor", "/audit", "Of what"),
        "rejected": ("ops", "/rejected", "What became of it"),
        "controls": ("ops", "/controls", "CLEAR_STATE_ALL"),
        "keys": ("admin", "/keys", "New key"),
    }


@pytest.mark.parametrize("width", [390, 1280])
def test_all_views_fit_and_break_no_rule(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped, width: int
) -> None:
    """Opened narrow and dark, wide and light, with axe, which takes a second for a page; then in the other colours."""
    scheme = BEGUN_IN[width]
    windows = {
        who: open_window(who, viewport={"width": width, "height": 844}, color_scheme=scheme)
        for who in ("analyst", "ops", "admin", "auditor")
    }
    faults: dict[str, list[str]] = {}
    for name, (who, path, text) in views(tripped, case_of(stack, tripped)["caseId"]).items():
        window = windows[who]
        window.page.emulate_media(color_scheme=scheme)
        window.go(path)
        expect(window.page.get_by_text(text, exact=False).locator("visible=true").first).to_be_visible()
        looks_as_it_should(window, name, width, scheme)
        faults[name] = serious_faults(window)
        window.page.emulate_media(color_scheme=OTHER[scheme])
        looks_as_it_should(window, name, width, OTHER[scheme])
        if width == 1280:
            window.page.set_viewport_size({"width": 2560, "height": 1000})
            looks_as_it_should(window, name, 2560, OTHER[scheme])
            window.page.set_viewport_size({"width": width, "height": 844})
        window.is_clean()
    assert {name: listed for name, listed in faults.items() if listed} == {}


def looks_as_it_should(window: Window, name: str, width: int, scheme: str) -> None:
    """In the colours of the scheme, and not wider than its window."""
    assert window.page.evaluate("getComputedStyle(document.body).backgroundColor") == BACKGROUND[scheme]
    wide = window.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} is {wide} px wide on {width}"
    picture(window.page, f"{name}-{width}-{scheme}")


NO_PURPOSE: dict[str, Any] = {
    "description": None,
    "severity": None,
    "tags": [],
    "owner": None,
    "playbook": None,
}


def show(window: Window, name: str, definition: str, **more: object) -> None:
    """Opens an alert of the contracts' examples as if this line had it, with the definition that judged, and `more`
    that this line knows of it."""
    alert = json.loads(EXAMPLES.joinpath("alerts.v1", f"{name}.json").read_text("utf-8"))
    event = json.loads(EXAMPLES.joinpath("rules.v1", f"{definition}.json").read_text("utf-8"))
    unseen = {"state": "open", "acknowledgedBy": None, "acknowledgedAt": None, "acknowledgementComment": None}
    raised = {
        "version": 1,
        "type": "AlertRaised",
        "occurredAt": alert["detectedAt"],
        "actor": None,
        "comment": None,
    }
    for path, body in (
        (f"**/v1/alerts/{alert['alertId']}", {**alert, **unseen, **more}),
        (f"**/v1/alerts/{alert['alertId']}/events", {"items": [raised]}),
        (f"**/v1/alerts/{alert['alertId']}/verifications", {"items": []}),
        (f"**/console/registry/rules/{alert['ruleId']}/versions/{alert['ruleVersion']}", event),
        (f"**/console/registry/rules/{alert['ruleId']}/purpose", NO_PURPOSE),
    ):
        answers(window, path, body)
    window.go(f"/alerts/{alert['alertId']}")


@pytest.mark.parametrize("width", [390, 1280])
def test_an_alert_says_what_it_is_made_of(open_window: OpenWindow, width: int) -> None:
    window = open_window("viewer", viewport={"width": width, "height": 844}, timezone_id="UTC")
    page = window.page
    show(window, "count-distinct", "rule-published-count-distinct")
    expect(page.get_by_text("3 different payers > 2")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Payer")).to_be_visible()
    expect(page.get_by_role("group", name="Different payers").locator(".tag")).to_have_text(
        ["0031", "25 × 2", "Müller & Söhne"]
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    show(window, "count-distinct-of-nothing", "rule-published-count-distinct")
    expect(page.get_by_text("No payment in the window has a payer.")).to_be_visible()
    show(window, "judged-again", "rule-published-reevaluate")
    sentence = "Judged again when the late payment t-5 of 20 Nov 2025, 12:15:00 came in."
    expect(page.get_by_text(sentence)).to_be_visible()
    expect(page.get_by_text("caught up")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="t-5").get_by_text("late")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_forms_fit(open_window: OpenWindow, width: int) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 844})
    window.go("/rules")
    window.page.get_by_role("button", name="New rule").click()
    window.page.get_by_label("Begin with").select_option(label="Card testing")
    dialog = window.page.get_by_role("dialog", name="New rule")
    expect(dialog.get_by_label("Value")).to_have_count(2)
    dialog.get_by_label("Compared with").last.select_option("parameter")
    dialog.get_by_role("button", name="Publish").scroll_into_view_if_needed()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    window.page.get_by_label("Begin with").select_option(label="Many payers to one")
    expect(dialog.get_by_label("Different what")).to_have_value("payeeId")
    expect(dialog.get_by_text("silent for 1 hour after an alert")).to_be_visible()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, f"rule-form-{width}")
    window.page.get_by_label("Begin with").select_option(label="About equal amounts out")
    expect(dialog.get_by_label("Steps of the amount")).to_have_value("50")
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    window.go("/lists")
    window.page.get_by_role("button", name="New list").click()
    dialog = window.page.get_by_role("dialog", name="New list")
    dialog.get_by_label("Values").fill("25\n26")
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, f"list-form-{width}")
    window.is_clean()


def test_the_colours_can_be_chosen(open_window: OpenWindow) -> None:
    window = open_window("viewer", color_scheme="light")
    window.go("/rules")
    window.page.get_by_role("button", name="Switch to dark colours").click()
    assert window.page.evaluate("getComputedStyle(document.body).backgroundColor") == BACKGROUND["dark"]
    window.page.reload()
    expect(window.page.get_by_role("button", name="Switch to light colours")).to_be_visible()
    assert window.page.evaluate("getComputedStyle(document.body).backgroundColor") == BACKGROUND["dark"]


def test_the_policy_is_what_stops_a_foreign_script(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/live")
    window.page.evaluate(INLINE)
    assert window.page.evaluate("window.ran") is None
    window.page.wait_for_function("window.violations.length > 0")


def test_the_time_zone_is_stated_and_used(open_window: OpenWindow, tripped: Tripped) -> None:
    alert = tripped.alerts[0]
    for zone, shown in (
        ("America/St_Johns", "America/St_Johns (UTC\u22123:30)"),
        ("Asia/Tokyo", "Asia/Tokyo (UTC+9)"),
    ):
        window = open_window("viewer", timezone_id=zone)
        window.go(f"/alerts/{alert['alertId']}")
        expect(window.page.locator("#time-zone")).to_have_text(shown)
        options = "{hour: '2-digit', minute: '2-digit', second: '2-digit'}"
        expected = window.page.evaluate(
            f"at => new Date(at).toLocaleTimeString('en-GB', {options})", alert["eventTime"]
        )
        expect(window.page.get_by_text(expected).locator("visible=true").first).to_be_visible()
