"""The page of one rule where a second person has to approve: what waits stands there, and is decided there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.four_eyes import four_eyes_console
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.traffic import definition, published_rule
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def console(stack: RunningStack, tmp_path: Path) -> Iterator[str]:
    with four_eyes_console(stack, tmp_path) as (address, _):
        yield address


def test_a_version_is_gone_back_to_by_two_people(
    open_window: OpenWindow, stack: RunningStack, console: str
) -> None:
    body = definition("Approval: a rule to go back", limit=1_000_000)
    with published_rule(stack, body) as rule, stack.registry() as registry:
        registry.put(
            f"/v1/rules/{rule['ruleId']}",
            json={**body, "limit": "2000000"},
            headers={"If-Match": "*"},
            params={"reason": "fewer of them"},
        ).raise_for_status()
        ada, eve = open_window("analyst"), open_window("approver")
        for window in (ada, eve):
            window.base = console
            window.go(f"/rules/{rule['ruleId']}")
        ada.page.get_by_role("button", name="Revert to version 1").click()
        asked = ada.page.get_by_role("dialog", name=re.compile("Go back to version 1"))
        asked.get_by_label("Reason").fill("too few now")
        asked.get_by_role("button", name="Revert to version 1").click()
        waiting = ada.page.get_by_role("region", name="Changes that wait").get_by_role("listitem").first
        expect(waiting.get_by_role("row", name="Limit 2,000,000 1,000,000")).to_be_visible()
        expect(ada.page.get_by_role("listitem").filter(has_text="draft: a change waits")).to_be_visible()
        waiting.get_by_role("button", name="Submit for approval").click()
        expect(waiting.get_by_text("waits for approval")).to_be_visible()
        expect(waiting.get_by_role("button", name="Approve")).to_have_count(0)
        for width in (390, 1280):
            ada.page.set_viewport_size({"width": width, "height": 844})
            fits(ada, width)
            picture(ada.page, f"rule-waits-{width}", full_page=True)

        # Of the rule's own steps an approver has none.
        expect(eve.page.get_by_role("button", name="Edit")).to_have_count(0)
        expect(eve.page.get_by_role("button", name=re.compile("^Revert"))).to_have_count(0)
        eve.page.get_by_role("button", name="Approve").click()
        newest = eve.page.get_by_role("list", name="Versions").locator("> li").first
        expect(newest).to_contain_text("published by analyst, approved by approver")
        expect(newest.locator("q")).to_have_text("too few now")
        expect(eve.page.get_by_role("region", name="Changes that wait")).to_be_hidden()
        expect(ada.page.get_by_role("list", name="Versions").locator("> li")).to_have_count(3)
        ada.is_clean()
        eve.is_clean()


def test_a_rule_that_nobody_has_approved_has_a_page_too(
    open_window: OpenWindow, stack: RunningStack, console: str
) -> None:
    ada = open_window("analyst")
    ada.base = console
    name = "Approval: a rule that never was"
    ada.go("/rules")
    ada.page.get_by_role("button", name="New rule").click()
    dialog = ada.page.get_by_role("dialog", name="New rule")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Limit").fill("1000000")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog).to_be_hidden()
    ada.go("/changes")
    ada.page.get_by_role("link", name=re.compile(name)).click()
    expect(ada.page.get_by_role("heading", name=name)).to_be_visible()
    expect(ada.page.locator("#rule-state")).to_have_text("not published yet")
    expect(ada.page.get_by_text("It judges nothing until it is approved.")).to_be_visible()
    ada.page.get_by_role("button", name="Give up").click()
    expect(ada.page.get_by_role("region", name="Changes that wait")).to_be_hidden()
    ada.is_clean("answered 404")
