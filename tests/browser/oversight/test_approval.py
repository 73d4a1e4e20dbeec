"""Four eyes in the console: an analyst drafts, an approver approves, the engine applies, the trail tells it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.four_eyes import client_of, four_eyes_console
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.traffic import definition, delete_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Approval: tested cards"


@pytest.fixture
def addresses(stack: RunningStack, tmp_path: Path) -> Iterator[tuple[str, str]]:
    with four_eyes_console(stack, tmp_path) as both:
        yield both


@pytest.mark.usefixtures("tripped")  # the engine has judged something: without history there is no estimate
def test_a_rule_goes_from_draft_to_the_engine(
    open_window: OpenWindow, stack: RunningStack, addresses: tuple[str, str]
) -> None:
    console, registry = addresses
    ada, eve = open_window("analyst"), open_window("approver")
    ada.base = eve.base = console
    draft_a_rule(ada)
    change_id = submit_it(ada)
    approve_it(eve, change_id)
    with client_of(stack, registry, "auditor") as auditor, client_of(stack, registry, "analyst") as analyst:
        [rule] = analyst.get("/v1/rules", params={"name": NAME}).raise_for_status().json()["items"]
        try:
            ada.go("/rules")
            row = ada.page.get_by_role("listitem").filter(has_text=NAME)
            expect(row.get_by_text("✓ applied v1")).to_be_visible()
            told = auditor.get("/v1/audit", params={"kind": "rule", "subject": str(rule["ruleId"])}).json()[
                "items"
            ]
            assert [(entry["type"], entry["actor"], entry["role"]) for entry in told] == [
                ("ChangeDrafted", "analyst", "analyst"),
                ("ChangeSubmitted", "analyst", "analyst"),
                ("RulePublished", "analyst", None),
                ("ChangeApproved", "approver", "approver"),
            ]
            assert [entry["reason"] for entry in told] == [
                None,
                "cards are being tested",
                "cards are being tested",
                None,
            ]
            ada.is_clean()
            eve.is_clean()
        finally:
            delete_rule(stack, rule["ruleId"])


def draft_a_rule(ada: Window) -> None:
    ada.go("/rules")
    ada.page.get_by_role("button", name="New rule").click()
    dialog = ada.page.get_by_role("dialog", name="New rule")
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_label("Aggregate").select_option("COUNT")
    dialog.get_by_label("Limit").fill("1000000")
    dialog.get_by_role("button", name="Publish").click()
    expect(ada.page.get_by_text("is a draft: submit it under Changes")).to_be_visible()
    expect(dialog).to_be_hidden()


def submit_it(ada: Window) -> str:
    """The number of the change."""
    ada.go("/changes")
    card = ada.page.get_by_role("listitem").filter(has_text=NAME)
    expect(card.get_by_text("Number of payments", exact=False)).to_be_visible()
    assert not card.get_by_role("button", name="Approve").is_visible(), "an author does not approve"
    # the line's own prover makes it, of what the line's engine has judged; nobody waits for it
    estimate = card.get_by_role("region", name="Estimate")
    expect(estimate).to_contain_text("estimate", ignore_case=True)
    change_id = card.get_attribute("data-change-id")
    card.get_by_label("Reason").fill("cards are being tested")
    card.get_by_role("button", name="Submit for approval").click()
    expect(card.get_by_text("waits for approval")).to_be_visible()
    assert change_id is not None
    return change_id


def approve_it(eve: Window, change_id: str) -> None:
    eve.go("/changes")
    card = eve.page.locator(f"[data-change-id='{change_id}']")
    expect(card.get_by_text("cards are being tested")).to_be_visible()
    card.get_by_role("button", name="Reject").click()
    expect(card.get_by_text("Say why")).to_be_visible()
    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_text("decided by approver", exact=False)).to_be_visible()
    estimate = card.get_by_role("region", name="Estimate")
    expect(estimate.get_by_role("row", name="Alerts a day")).to_be_visible(timeout=240_000)
    expect(estimate.get_by_role("columnheader")).to_have_text(["Estimate", "Likely range", "First day"])
    expect(estimate).to_contain_text("In 95 of 100 cases a day lies within the range")


def test_what_is_asked_for_is_shown_beside_what_holds(
    open_window: OpenWindow, stack: RunningStack, addresses: tuple[str, str]
) -> None:
    """Of a rule, a list, a parameter and a command; narrow and dark, wide and light."""
    console, registry = addresses
    with stack.registry() as free, client_of(stack, registry, "analyst") as analyst:
        body = definition("Approval: many small ones", limit=1_000_000)
        rule = free.post("/v1/rules", json=body).raise_for_status().json()
        free.put("/v1/lists/approval-shops", json={"values": ["a", "b"]}).raise_for_status()
        changed = {**body, "limit": "2000000", "windowSeconds": 120}
        asked = [
            analyst.put(f"/v1/rules/{rule['ruleId']}", json=changed, headers={"If-Match": "*"}),
            analyst.put("/v1/lists/approval-shops", json={"values": ["b", "c", "d"]}),
            analyst.put("/v1/parameters/approval-most", json={"value": "5"}),
        ]
        assert {answer.status_code for answer in asked} == {202}
        try:
            for scheme, width in (("light", 1280), ("dark", 390)):
                window = open_window(
                    "approver", viewport={"width": width, "height": 844}, color_scheme=scheme
                )
                window.base = console
                window.go("/changes")
                cards = [
                    window.page.locator(f"[data-change-id='{answer.json()['changeId']}']") for answer in asked
                ]
                expect(cards[0].get_by_role("row", name="limit 1,000,000 2,000,000")).to_be_visible()
                expect(cards[1].get_by_role("row", name="added c, d")).to_be_visible()
                expect(cards[1].get_by_role("row", name="removed a")).to_be_visible()
                expect(cards[2].get_by_role("row", name="value 5")).to_be_visible()
                fits(window, width)
                picture(window.page, f"changes-{width}-{scheme}", full_page=True)
                # a parameter that is not there yet is asked for all the same
                window.is_clean("answered 404")
        finally:
            for answer in asked:
                analyst.post(f"/v1/changes/{answer.json()['changeId']}/withdraw")
            delete_rule(stack, rule["ruleId"])
