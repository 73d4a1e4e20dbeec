"""Cases in the console: a burst is one, it is worked on by keyboard and on its page, and something new reopens it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.payer_case import case_of
from tests.browser.traffic import SECONDS, Tripped, definition, published_rule
from tests.browser.windows import Window
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def test_a_burst_is_one_case_from_the_first_look_to_what_reopens_it(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    case = case_of(stack, tripped)
    assert case["alertCount"] >= len(tripped.alerts)
    assert case["episodeCount"] < len(tripped.alerts)
    window = open_window("analyst")
    page, subject = window.page, f"subject=payeeId:{case['subject']['value']}"
    window.go(f"/cases?{subject}")
    row = page.locator("#case-list > li")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(f"{case['alertCount']} alerts in")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys of the inbox")).to_contain_text("Claim it")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(row.locator("a")).to_be_focused()
    page.keyboard.press("a")
    expect(row).to_contain_text("acknowledged")
    page.keyboard.press("e")
    expect(row).to_contain_text("assigned")
    expect(row.locator("a")).to_be_focused()
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Resolve")
    dialog.get_by_label("It was").select_option(label="False positive")
    dialog.get_by_label("Note").fill("The yearly sale.")
    dialog.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("No case fits these filters.")).to_be_visible()
    window.go(f"/cases?state=resolved&{subject}")
    expect(row).to_contain_text("resolved: false positive")
    row.locator("a").click()
    history = page.locator("#case-history")
    expect(history).to_contain_text("Resolved by analyst: false positive")
    expect(history).to_contain_text("The yearly sale.")
    expect(page.locator("#case-episodes tbody tr").first).to_contain_text(tripped.rule["name"])
    expect(page.get_by_role("heading", name="From payer to beneficiary")).to_be_visible()
    page.get_by_text("As a table").click()
    between = page.locator("#case-graph tbody tr")
    expect(between.first).to_contain_text(case["subject"]["value"])
    expect(page.locator(".graph-edge")).to_have_count(between.count())
    its_rule_is_worth_less(window, tripped)
    its_alerts_are_listed_by_the_outcome(window, tripped, case["caseId"])
    window.go(f"/cases?state=resolved&{subject}")
    row.locator("a").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download evidence").click()
    assert taken.value.suggested_filename == f"evidence-case-{case['caseId']}.zip"
    again = {**definition("Browser: found again"), "effectiveFrom": tripped.alerts[-1]["eventTime"] - 60_000}
    with published_rule(stack, again):
        eventually(lambda: case_of(stack, tripped)["state"] == "reopened", "the case is reopened", SECONDS)
        expect(history).to_contain_text("Reopened: something new came")
    page.get_by_role("button", name="Assign").click()
    dialog = page.get_by_role("dialog", name="Assign")
    dialog.get_by_label("To", exact=True).fill("bob")
    dialog.get_by_role("button", name="Assign").click()
    expect(history).to_contain_text("Assigned to bob by analyst")
    page.get_by_role("link", name="All cases").click()
    expect(row).to_have_count(0)
    window.is_clean()


def its_alerts_are_listed_by_the_outcome(window: Window, tripped: Tripped, case_id: int) -> None:
    page = window.page
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}&outcome=false_positive&caseState=resolved")
    expect(page.locator("#alert-list li")).to_have_count(len(tripped.alerts))
    page.locator("#alert-list a").first.click()
    page.get_by_role("link", name=f"case {case_id}").click()
    expect(page.locator("#case-history")).to_contain_text("The yearly sale.")


def its_rule_is_worth_less(window: Window, tripped: Tripped) -> None:
    """By one false positive, on its own page and among all rules."""
    page, worth = window.page, "0 % (0 % to 79 %, of 1 case)"
    window.go(f"/rules/{tripped.rule['ruleId']}")
    table = page.get_by_role("region", name="What versions are worth")
    expect(table).to_contain_text("1 false positive")
    expect(table).to_contain_text(worth)
    window.go("/rules")
    page.get_by_text("What the rules are worth").click()
    expect(table.get_by_role("row").filter(has_text=tripped.rule["name"])).to_contain_text(worth)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download as CSV").click()
    assert "false_positive" in taken.value.path().read_text("utf-8").splitlines()[0]


def test_all_cases_of_a_filter_with_the_number_that_was_seen(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    case = case_of(stack, tripped)
    window = open_window("analyst")
    page = window.page
    window.go(f"/cases?subject=payeeId:{case['subject']['value']}")
    page.get_by_role("button", name="With all of these").click()
    dialog = page.get_by_role("dialog", name="With the one case of these filters")
    dialog.get_by_label("Do", exact=True).select_option(label="Claim")
    dialog.get_by_role("button", name="Do it with 1 case").click()
    # it may have been assigned to somebody else before
    eventually(lambda: case_of(stack, tripped)["assignee"] == "analyst", "it is the analyst's", SECONDS)
    expect(page.locator("#case-list > li")).to_contain_text("assigned")
    window.is_clean()


def test_filters_are_kept_under_a_name_for_who_saved_them(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("analyst")
    page, rule_id = window.page, tripped.rule["ruleId"]
    window.go(f"/cases?state=all&ruleId={rule_id}")
    expect(page.locator("#case-list > li").first).to_be_visible()
    page.get_by_role("button", name="Save this view").click()
    dialog = page.get_by_role("dialog", name="Save this view")
    dialog.get_by_label("Name").fill("a/b")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("A name has letters, digits, spaces")
    dialog.get_by_label("Name").fill("Größere Fälle")
    dialog.get_by_role("button", name="Save").click()
    mine = page.get_by_role("list", name="Saved views").get_by_role("link", name="Größere Fälle")
    expect(mine).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("button", name="Save this view")).to_be_hidden()
    window.go("/cases")
    mine.click()
    expect(page).to_have_url(re.compile(rf"/cases\?state=all&ruleId={rule_id}$"))
    other = open_window("second-analyst")
    other.go("/cases")
    expect(other.page.get_by_role("button", name="With all of these")).to_be_visible()
    expect(other.page.get_by_role("list", name="Saved views")).to_be_hidden()
    page.get_by_role("button", name="Forget the view Größere Fälle").click()
    expect(mine).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Save this view")).to_be_visible()
    expect(mine).to_have_count(0)
    window.is_clean()


def test_who_may_only_read_sees_no_way_to_work(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    window = open_window("viewer")
    window.go(f"/cases/{case_of(stack, tripped)['caseId']}")
    expect(window.page.get_by_role("heading", name="Time line")).to_be_visible()
    expect(window.page.get_by_role("button", name="Comment")).to_have_count(0)
    window.go("/cases/123456789")
    expect(window.page.get_by_text("There is no such case.")).to_be_visible()
    window.is_clean("answered 404")
