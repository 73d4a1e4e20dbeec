"""A shadow on the page of its rule: started, watched, promoted and ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.four_eyes import four_eyes_console
from tests.browser.support.layout import looks_well
from tests.browser.support.rule_work import stored
from tests.browser.traffic import SECONDS, definition, is_applied
from tests.browser.windows import Window
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def versions_of(page: Page) -> Locator:
    return page.get_by_role("list", name="Versions").locator("> li")


def test_a_shadow_is_started_watched_and_promoted(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    """The rule needs a million payments within a minute; its shadow one."""
    window = open_window("analyst")
    page = window.page
    window.go(f"/rules/{rule['ruleId']}")
    expect(page.locator(".rule-shadow")).to_be_hidden()
    page.get_by_role("button", name="Try as a shadow").click()
    form = page.get_by_role("dialog", name=re.compile("A shadow of"))
    form.get_by_label("Limit").fill("1")
    form.get_by_role("button", name="Start the shadow").click()
    section = page.locator(".rule-shadow")
    expect(section).to_contain_text("Version 2 runs beside version 1")
    expect(page.get_by_role("button", name="Try as a shadow")).to_have_count(0)
    expect(versions_of(page).first).to_contain_text("started as a shadow by analyst")

    eventually(lambda: is_applied(stack, {**rule, "version": 2}), "the shadow is applied", SECONDS)
    with stack.generator() as generator:
        generator.post("/v1/scenarios/card-testing/plays").raise_for_status()
    expect(section.get_by_role("rowheader")).not_to_have_count(0, timeout=60_000)
    expect(section).to_contain_text("The newest that only the shadow alerted about")
    expect(section.locator(".shadow-figures dd").nth(1)).to_have_text("0")
    looks_well(window, "rule-with-a-shadow")
    with stack.alerts() as alerts:
        assert alerts.get("/v1/alerts", params={"ruleId": rule["ruleId"]}).json()["items"] == []

    section.get_by_role("button", name="Promote the shadow").click()
    asked = page.get_by_role("dialog", name=re.compile("Promote the shadow"))
    asked.get_by_label("Reason").fill("it is right")
    asked.get_by_role("button", name="Make it the rule").click()
    expect(section).to_be_hidden()
    expect(versions_of(page).first).to_contain_text("promoted from a shadow by analyst")
    now = stored(stack, rule["ruleId"])
    assert (now["definitionVersion"], now["definition"]["limit"], now["shadow"]) == (2, "1", None)
    window.is_clean()


def test_a_shadow_is_ended_and_who_only_reads_sees_it(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    with stack.registry("second-analyst") as registry:
        path, body = f"/v1/rules/{rule['ruleId']}", definition(rule["name"], limit=7)
        registry.post(f"{path}/shadow", json=body, headers={"If-Match": "*"}).raise_for_status()
    reading = open_window("viewer")
    reading.go(f"/rules/{rule['ruleId']}")
    seen = reading.page.locator(".rule-shadow")
    expect(seen).to_contain_text("neither of them has given an alert")
    expect(seen.get_by_role("button")).to_have_count(0)
    window = open_window("analyst")
    page = window.page
    window.go(f"/rules/{rule['ruleId']}")
    page.locator(".rule-shadow").get_by_role("button", name="End the shadow").click()
    page.get_by_role("dialog", name=re.compile("End the shadow")).get_by_role(
        "button", name="Stop it"
    ).click()
    expect(page.locator(".rule-shadow")).to_be_hidden()
    expect(versions_of(page).first).to_contain_text("shadow ended by analyst")
    expect(seen).to_be_hidden()
    assert stored(stack, rule["ruleId"])["shadow"] is None
    window.is_clean()


def test_a_shadow_is_rolled_out_and_two_people_widen_it(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any], tmp_path: Path
) -> None:
    """The rule's own version would need a million payments: what counts is of the shadow, in its share of groups."""
    window = open_window("analyst")
    page, rule_id = window.page, rule["ruleId"]
    with stack.registry("analyst") as registry:
        body = definition(rule["name"], limit=1)
        registry.post(f"/v1/rules/{rule_id}/shadow", json=body, headers={"If-Match": "*"}).raise_for_status()
    window.go(f"/rules/{rule_id}")
    section = page.locator(".rule-shadow")
    ask_for_share(page, "Roll out", 50)
    expect(section).to_contain_text("It is rolled out to 50 % of groups")
    expect(versions_of(page).first).to_contain_text("shadow rolled out to 50 % by analyst")
    with four_eyes_console(stack, tmp_path) as (console, _):
        widened_by_two(window, open_window("approver"), console, rule_id)
        window.base = stack.file["console"].rstrip("/")
        window.go(f"/rules/{rule_id}")
    expect(section).to_contain_text("It is rolled out to 99 % of groups")
    expect(section.get_by_role("button", name="Widen")).to_have_count(0)

    version = stored(stack, rule_id)["version"]
    eventually(lambda: is_applied(stack, {**rule, "version": version}), "it is applied", SECONDS)
    with stack.generator() as generator:
        generator.post("/v1/scenarios/card-testing/plays").raise_for_status()
    arms = section.get_by_role("region", name="Both arms")
    counted = arms.get_by_role("row", name=re.compile(r"^Alerts [1-9]\d*, of"))
    expect(counted).to_be_visible(timeout=60_000)
    expect(section).to_contain_text("cannot be said before both versions have alerts that count")
    looks_well(window, "rule-with-a-rollout")
    with stack.alerts() as alerts:
        counting = alerts.get("/v1/alerts", params={"ruleId": rule_id}).json()["items"]
    assert {alert["ruleVersion"] for alert in counting} == {2}

    section.get_by_role("button", name="End the shadow").click()
    asked = page.get_by_role("dialog", name=re.compile("End the shadow"))
    expect(asked).to_contain_text("Version 1 counts for all groups again")
    asked.get_by_role("button", name="Stop it").click()
    expect(section).to_be_hidden()
    window.is_clean()


def ask_for_share(page: Page, step: str, percent: int) -> None:
    page.locator(".rule-shadow").get_by_role("button", name=step).click()
    form = page.get_by_role("dialog", name=re.compile("Roll out the shadow of"))
    form.get_by_label("Percent of groups").fill(str(percent))
    form.get_by_label("Reason").fill("it looks right")
    form.get_by_role("button", name=f"Roll out to {percent} %").click()
    expect(form).to_be_hidden()


def widened_by_two(ada: Window, eve: Window, console: str, rule_id: int) -> None:
    """From 50 % to 99 %, where a second person has to approve changes: until then nothing counts otherwise."""
    for window in (ada, eve):
        window.base = console
        window.go(f"/rules/{rule_id}")
    ask_for_share(ada.page, "Widen the rollout", 99)
    waiting = ada.page.get_by_role("region", name="Changes that wait").get_by_role("listitem").first
    expect(waiting.get_by_role("row", name="counts for 50 % of groups 99 % of groups")).to_be_visible()
    expect(waiting.get_by_text("waits for approval")).to_be_visible()
    expect(waiting.get_by_role("button", name="Approve")).to_have_count(0)
    expect(ada.page.locator(".rule-shadow")).to_contain_text("It is rolled out to 50 % of groups")

    asked = eve.page.get_by_role("region", name="Changes that wait").get_by_role("listitem").first
    expect(asked.get_by_role("row", name="counts for 50 % of groups 99 % of groups")).to_be_visible()
    expect(eve.page.locator(".rule-shadow").get_by_role("button")).to_have_count(0)
    asked.get_by_role("button", name="Approve").click()
    newest = versions_of(eve.page).first
    expect(newest).to_contain_text("shadow rolled out to 99 % by analyst, approved by approver")
    expect(newest.locator("q")).to_have_text("it looks right")
    eve.is_clean()
    eve.page.close()
