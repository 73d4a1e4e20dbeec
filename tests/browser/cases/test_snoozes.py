"""A snooze in the console: asked for, approved by somebody else, and what it suppressed."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.four_eyes import snoozing_console
from tests.browser.support.pictures import picture
from tests.browser.traffic import LIMIT, SECONDS, Tripped, tripped_rule
from tests.browser.windows import Window
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

RULE = "Browser: a noisy rule"


def test_a_snooze_is_approved_by_somebody_else_and_says_what_it_suppressed(
    open_window: OpenWindow, stack: RunningStack, tmp_path: Path
) -> None:
    with (
        snoozing_console(stack, tmp_path) as console,
        tripped_rule(stack, RULE, paused=False) as tripped,
    ):
        ada, eve, viewer = (open_window(who) for who in ("analyst", "approver", "viewer"))
        for window in (ada, eve, viewer):
            window.base = console
        ask_for_it(ada, tripped)
        approve_it(eve)
        suppressed = play_again(stack, tripped.rule["ruleId"])
        for window in (ada, viewer):
            look_at_it(window, tripped, suppressed)
        expect(item(viewer).get_by_role("button")).to_have_count(0)
        take_pictures(open_window, console)
        end_it(ada)
        ada.is_clean("answered 422")
        for window in (eve, viewer):
            window.is_clean()


def item(window: Window) -> Locator:
    return window.page.locator("#snooze-list > li").filter(has_text=RULE)


def ask_for_it(ada: Window, tripped: Tripped) -> None:
    ada.go(f"/alerts/{tripped.alerts[0]['alertId']}")
    ada.page.get_by_role("button", name="Snooze").click()
    dialog = ada.page.get_by_role("dialog", name="Snooze")
    expect(dialog.get_by_label("About payer")).not_to_be_checked()
    for name in (f"Rule {RULE}", "The group payer"):
        dialog.get_by_label(name).uncheck()
    dialog.get_by_role("button", name="Snooze").click()
    expect(dialog.locator(".snooze-scope").get_by_role("alert")).to_contain_text("Tick at least one of these")
    dialog.get_by_label(f"Rule {RULE}").check()
    dialog.get_by_text("8 hours").click()
    expect(dialog.get_by_role("status")).to_contain_text("UTC")
    dialog.get_by_role("button", name="Snooze").click()
    expect(dialog.locator(".field").get_by_role("alert")).to_contain_text("Say why.")
    dialog.get_by_text("Another time").click()
    dialog.get_by_label("Until").fill("2020-01-01T09:00:00")
    dialog.get_by_label("Reason").fill("The terminals are being tested.")
    dialog.get_by_role("button", name="Snooze").click()
    at_the_time = dialog.locator(".field").filter(has=dialog.page.get_by_label("Until"))
    expect(at_the_time.get_by_role("alert")).to_be_visible()
    dialog.get_by_text("8 hours").click()
    dialog.get_by_role("button", name="Snooze").click()
    expect(ada.page.get_by_text("waits for its approval, under Cases")).to_be_visible()
    ada.go("/cases/snoozes")
    expect(item(ada)).to_contain_text("waits for approval")
    expect(item(ada).get_by_role("button", name="Approve")).to_have_count(0)


def approve_it(eve: Window) -> None:
    eve.go("/cases")
    eve.page.get_by_role("link", name="1 snooze to approve").click()
    expect(item(eve)).to_contain_text("The terminals are being tested.")
    item(eve).get_by_role("button", name="Approve").click()
    expect(item(eve).get_by_role("alert")).to_contain_text("Say why.")
    item(eve).get_by_label("Reason").fill("Seen in the plan.")
    item(eve).get_by_role("button", name="Approve").click()
    expect(item(eve)).to_contain_text("in force")
    expect(item(eve)).to_contain_text("approved by approver")


def play_again(stack: RunningStack, rule_id: int) -> int:
    """Another payer trips the rule; gives the number of alerts. None is in a case, and a judgement says why."""
    with stack.generator() as generator:
        played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
    wanted: int = played["transactions"] - LIMIT
    with stack.alerts() as alerts:
        query: dict[str, str | int] = {"ruleId": rule_id, "snoozed": "true", "limit": 100}
        eventually(
            lambda: len(alerts.get("/v1/alerts", params=query).json()["items"]) == wanted,
            "the alerts are there, and marked",
            SECONDS,
        )
        [case] = alerts.get("/v1/cases", params={"ruleId": rule_id}).json()["items"]
        newest = alerts.get("/v1/alerts", params=query).json()["items"][0]
        path = f"/v1/transactions/{newest['transaction']['transactionId']}/judgement"
        said = (
            alerts.get(path, params={"eventTime": newest["eventTime"]}, timeout=90).raise_for_status().json()
        )
    [rule] = [rule for rule in said["rules"] if rule["ruleId"] == rule_id]
    assert (rule["reason"], rule["snoozeId"]) == ("snoozed", newest["snoozeId"])
    assert case["subject"]["value"] != played["payeeId"]
    return wanted


def look_at_it(window: Window, tripped: Tripped, suppressed: int) -> None:
    page, rule_id = window.page, tripped.rule["ruleId"]
    window.go(f"/alerts?ruleId={rule_id}")
    rows = page.locator("#alert-list > li")
    expect(rows).to_have_count(min(25, len(tripped.alerts)))
    expect(rows.get_by_text("snoozed")).to_have_count(0)
    window.go(f"/rules/{rule_id}")
    newest = page.get_by_role("list", name="Its newest alerts").get_by_role("listitem")
    expect(newest.get_by_text("snoozed").first).to_be_visible()
    page.go_back()
    page.get_by_role("link", name=f"1 snooze in force, {suppressed} alerts suppressed").click()
    item(window).get_by_role("link", name=f"{suppressed} alerts suppressed").click()
    expect(rows).to_have_count(min(25, suppressed))
    expect(rows.get_by_text("snoozed")).to_have_count(min(25, suppressed))
    rows.first.locator("a").first.click()
    expect(page.get_by_text("Snoozed: it is in no case.")).to_be_visible()
    page.get_by_role("link", name="Snooze ", exact=False).click()
    expect(item(window)).to_contain_text("in force")


def take_pictures(open_window: OpenWindow, console: str) -> None:
    for width, scheme in ((390, "dark"), (1280, "light")):
        window = open_window(
            "analyst",
            viewport={"width": width, "height": 844},
            color_scheme=scheme,
            timezone_id="Asia/Kolkata",
        )
        window.base = console
        window.go("/cases/snoozes")
        expect(item(window)).to_contain_text("Asia/Calcutta (UTC+5:30)")
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width
        picture(window.page, f"snooze-{width}-{scheme}")
        window.is_clean()
        if width == 390:
            window.page.context.close()


def end_it(ada: Window) -> None:
    ada.go("/cases/snoozes")
    item(ada).get_by_label("Reason").fill("The test is over.")
    item(ada).get_by_role("button", name="End now").click()
    expect(item(ada)).to_contain_text("ended by analyst")
    expect(item(ada).get_by_role("button")).to_have_count(0)
