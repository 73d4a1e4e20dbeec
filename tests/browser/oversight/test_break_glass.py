"""Where a second person has to approve, one alone pauses a rule or goes back, at once; somebody else looks at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.forms import opened
from tests.browser.support.four_eyes import approved_rule, client_of, four_eyes_console
from tests.browser.support.layout import looks_well
from tests.browser.traffic import definition, delete_rule, published_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Break-glass: a rule that floods"
AT_ONCE = "At once, without a second person"
LOOKED = "I have looked at it"
ALONE = "done by one person alone"


@pytest.fixture
def addresses(stack: RunningStack, tmp_path: Path) -> Iterator[tuple[str, str]]:
    with four_eyes_console(stack, tmp_path) as both:
        yield both


@pytest.fixture
def rule(stack: RunningStack, addresses: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """Approved as version 1; nobody has approved what it says as version 2."""
    body = definition(NAME, limit=1_000_000)
    made = approved_rule(stack, addresses[1], body)
    with stack.registry() as free:
        path = f"/v1/rules/{made['ruleId']}"
        free.put(path, json={**body, "limit": "2000000"}, headers={"If-Match": "*"}).raise_for_status()
        yield made
    delete_rule(stack, made["ruleId"])


def act_alone(dialog: Locator, button: str, reason: str) -> None:
    """Chooses to do without a second person; that needs a reason."""
    dialog.get_by_label(AT_ONCE).check()
    go = dialog.get_by_role("button", name=button)
    expect(go).to_be_disabled()
    dialog.get_by_label("Reason").fill(reason)
    go.click()


def flagged(window: Window) -> Locator:
    return window.page.get_by_role("listitem").filter(has_text=NAME).filter(has_text=ALONE)


def test_one_pauses_and_goes_back_alone_and_another_one_looks_at_it(
    open_window: OpenWindow,
    stack: RunningStack,
    addresses: tuple[str, str],
    rule: dict[str, Any],
) -> None:
    ada, eve = open_window("analyst"), open_window("approver")
    ada.base = eve.base = addresses[0]
    page = ada.page
    ada.go(f"/rules/{rule['ruleId']}")
    versions = page.get_by_role("list", name="Versions").locator("> li")
    expect(versions).to_have_count(2)

    pausing = opened(page, "Pause", re.compile("Pause"))
    expect(pausing.get_by_text("Somebody else has to approve it.")).to_be_visible()
    pausing.get_by_label(AT_ONCE).check()
    looks_well(ada, "break-glass-pause")
    pausing.get_by_label(AT_ONCE).uncheck()
    expect(pausing.get_by_role("button", name="Pause the rule")).to_be_enabled()
    act_alone(pausing, "Pause it at once", "it floods")
    expect(page.locator("#rule-state")).to_have_text("paused")
    expect(versions.first).to_contain_text("paused by analyst alone")
    expect(versions.first.locator("q")).to_have_text("it floods")

    reverting = opened(page, "Revert to version 1", re.compile("Go back to version 1"))
    act_alone(reverting, "Revert to version 1 at once", "it was right before")
    expect(versions).to_have_count(4)
    expect(versions.first).to_contain_text("published by analyst alone")
    expect(flagged(ada)).to_have_count(2)
    expect(page.get_by_role("button", name=LOOKED)).to_have_count(0)

    # only to what was approved once
    again = opened(page, "Revert to version 2", re.compile("Go back to version 2"))
    act_alone(again, "Revert to version 2 at once", "or not")
    expect(again.get_by_role("alert")).to_contain_text("approved")
    page.keyboard.press("Escape")

    eve.go("/changes")
    expect(flagged(eve)).to_have_count(2)
    looks_well(eve, "break-glass-review")
    for left in (1, 0):
        flagged(eve).first.get_by_role("button", name=LOOKED).click()
        expect(flagged(eve)).to_have_count(left)
    expect(flagged(ada)).to_have_count(0)
    with client_of(stack, addresses[1], "auditor") as auditor:
        query = {"kind": "rule", "subject": str(rule["ruleId"])}
        told = auditor.get("/v1/audit", params=query).raise_for_status().json()["items"]
    alone = [one for one in told if one["type"] in ("DoneWithoutApproval", "ChangeReviewed")]
    assert [(one["type"], one["actor"], one["reason"]) for one in alone] == [
        ("DoneWithoutApproval", "analyst", "it floods"),
        ("DoneWithoutApproval", "analyst", "it was right before"),
        ("ChangeReviewed", "approver", None),
        ("ChangeReviewed", "approver", None),
    ]
    ada.is_clean("answered 409")
    eve.is_clean()


def test_where_nobody_has_to_approve_there_is_no_such_choice(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window("analyst")
    with published_rule(stack, definition("Break-glass: of no use", limit=1_000_000)) as made:
        window.go(f"/rules/{made['ruleId']}")
        asked = opened(window.page, "Pause", re.compile("Pause"))
        expect(asked.get_by_label("Reason")).to_be_visible()
        expect(asked.get_by_label(AT_ONCE)).to_be_hidden()
    window.is_clean()
