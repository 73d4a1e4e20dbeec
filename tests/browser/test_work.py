"""What people do all day: change rules, filter alerts, give commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import Tripped, definition, published_rule
from tests.stack import RunningStack

MORE_ON_TOP = """() => import("/console/core/dom.js").then(({ arrange, byId, element }) =>
    arrange(byId("alert-list"), [element("li", {}, "Another one"), ...byId("alert-list").children]))"""

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def rule(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A rule to work on that nothing trips."""
    with published_rule(stack, definition("Work: a rule to change", limit=1_000_000)) as made:
        yield made


def stored(stack: RunningStack, rule_id: int) -> dict[str, Any]:
    with stack.registry() as registry:
        found: dict[str, Any] = registry.get(f"/v1/rules/{rule_id}").raise_for_status().json()
    return found


def row_of(page: Page, rule: dict[str, Any]) -> Any:
    return page.get_by_role("listitem").filter(has_text=rule["name"])


def test_a_rule_is_changed_paused_resumed_compared_and_deleted(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/rules")
    row = row_of(page, rule)
    row.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name=re.compile("Change"))
    form.get_by_label("Limit").fill("2000000")
    form.get_by_label("beneficiary").check()
    form.get_by_role("button", name="Add a condition").click()
    form.get_by_label("Value").fill("CSH")
    form.get_by_label("Fires").select_option("crossing")
    form.get_by_role("button", name="Publish the new version").click()
    expect(row.get_by_text("published v2")).to_be_visible()
    now = stored(stack, rule["ruleId"])["definition"]
    assert (now["limit"], now["groupingKeyNames"], now["firing"]) == (
        "2000000",
        ["beneficiaryId", "payeeId"],
        "crossing",
    )
    assert now["filter"] == {"field": "paymentType", "operator": "=", "value": "CSH"}

    row.get_by_role("button", name="Pause").click()
    expect(row.get_by_text("paused", exact=True)).to_be_visible()
    row.get_by_role("button", name="Resume").click()
    expect(row.get_by_text("published v4")).to_be_visible()

    row.get_by_role("button", name="Versions").click()
    versions = page.get_by_role("dialog", name=re.compile("Versions"))
    expect(versions.locator(".versions > li")).to_have_count(4)
    second = versions.get_by_role("listitem").filter(has_text="Version 2")
    limit = second.get_by_role("row").filter(has_text="Limit")
    expect(limit.locator("del")).to_have_text("1,000,000")
    expect(limit.locator("ins")).to_have_text("2,000,000")
    expect(second.get_by_role("row").filter(has_text="Fires").locator("ins")).to_have_text("crossing")
    page.keyboard.press("Escape")

    # While it fires at crossings it cannot judge again, and the form says so.
    row.get_by_role("button", name="Edit").click()
    again = form.get_by_label("Late payments").locator("option[value=reevaluate]")
    expect(again).to_be_disabled()
    expect(form.get_by_text("A rule that fires only at a crossing cannot judge again.")).to_be_visible()
    form.get_by_label("Fires").select_option("every")
    form.get_by_label("Late payments").select_option("reevaluate")
    expect(form.get_by_label("Fires").locator("option[value=crossing]")).to_be_disabled()
    expect(form.get_by_label("count afresh")).to_be_disabled()
    expect(form.get_by_label("be silent for that group")).to_be_disabled()
    form.get_by_label("Late payments").select_option("evaluate")

    # Different payers, and silence after an alert.
    form.get_by_label("payer").uncheck()
    form.get_by_label("Aggregate").select_option("COUNT_DISTINCT")
    form.get_by_label("Different what").select_option(label="payers")
    form.get_by_label("be silent for that group").fill("10")
    expect(again).to_be_disabled()
    form.get_by_role("button", name="Publish the new version").click()
    expect(row.get_by_text("published v5")).to_be_visible()
    expect(row.get_by_text("Number of different payers per beneficiary")).to_be_visible()
    expect(row.get_by_text("silent for 10 minutes after an alert")).to_be_visible()
    now = stored(stack, rule["ruleId"])["definition"]
    assert (now["aggregatorFunctionType"], now["aggregateFieldName"]) == ("COUNT_DISTINCT", "payeeId")
    assert (now["cooldownSeconds"], now["firing"], now["groupingKeyNames"]) == (
        600,
        "every",
        ["beneficiaryId"],
    )

    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name=re.compile("Delete")).get_by_role(
        "button", name="Delete the rule"
    ).click()
    expect(row).to_have_count(0)
    window.is_clean()


def test_the_form_shows_a_rule_as_it_is_and_sends_it_back_unchanged(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    rich = {
        **definition(rule["name"]),
        "aggregatorFunctionType": "AVG",
        "aggregateFieldName": "paymentAmount",
        "groupingKeyNames": [],
        "windowSeconds": 7200,
        "limit": "0.000001",
        "limitOperatorType": "<=",
        "lateEvents": "store",
        "filter": {"not": {"any": [{"field": "payeeId", "in": ["1", "2"]}]}},
    }
    with stack.registry() as registry:
        body = registry.put(f"/v1/rules/{rule['ruleId']}", json=rich, headers={"If-Match": '"1"'})
        before = body.raise_for_status().json()["definition"]
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)
    expect(row.get_by_text("published v2")).to_be_visible()
    row.get_by_role("button", name="Edit").click()
    form = window.page.get_by_role("dialog", name=re.compile("Change"))
    expect(form.get_by_label("Filter as JSON")).to_be_visible()
    form.get_by_label("Name").fill("Work: another name")
    form.get_by_role("button", name="Publish the new version").click()
    expect(form).to_be_hidden()
    after = stored(stack, rule["ruleId"])
    assert (after["name"], after["definition"]) == ("Work: another name", before)


def test_a_list_is_made_changed_and_named_by_a_rule(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    lists = page.get_by_role("region", name="Lists", exact=True).get_by_role("listitem")
    page.get_by_role("button", name="New list").click()
    form = page.get_by_role("dialog", name="New list")
    form.get_by_label("Name").fill("work-watched")
    form.get_by_label("Values").fill("25\n mallory \n\n25\n")
    expect(form.get_by_role("status")).to_have_text("2 values")
    form.get_by_role("button", name="Save").click()
    row = lists.filter(has_text="work-watched")
    expect(row).to_contain_text("2 values")

    # A list of that name again is not taken for a change of it.
    page.get_by_role("button", name="New list").click()
    form.get_by_label("Name").fill("work-watched")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("There is one of that name already.")).to_be_visible()
    page.keyboard.press("Escape")

    # Somebody else changes it: one sees it, without a reload.
    with stack.registry("second-analyst") as registry:
        registry.put("/v1/lists/work-watched", json={"values": ["25", "mallory", " x "]}).raise_for_status()
    expect(row).to_contain_text("3 values")
    expect(row).to_contain_text("version 2, by second-analyst")
    row.get_by_role("button", name="Change").click()
    changing = page.get_by_role("dialog", name="Change the list work-watched")
    expect(changing.get_by_label("Values")).to_have_value(" x \n25\nmallory")
    changing.get_by_label("Values").fill(" x \n25\nmallory\nmallet")
    changing.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("version 3, by analyst")
    with stack.registry() as registry:
        kept = registry.get("/v1/lists/work-watched").json()["values"]
    assert kept == [" x ", "25", "mallet", "mallory"]

    page.get_by_role("button", name="New parameter").click()
    form = page.get_by_role("dialog", name="New parameter")
    form.get_by_label("Name").fill("work-low")
    form.get_by_label("Value").fill("1,000.50")
    form.get_by_role("button", name="Save").click()
    expect(
        page.get_by_role("region", name="Parameters").get_by_role("listitem").filter(has_text="work-low")
    ).to_contain_text("1,000.5")

    # A rule names both.
    window.go("/rules")
    rule_row = row_of(page, rule)
    rule_row.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name=re.compile("Change"))
    add = form.get_by_role("button", name="Add a condition")
    add.click()
    form.get_by_label("Field").select_option("payeeId")
    form.get_by_label("Comparison").select_option(label="is in the list")
    form.get_by_label("Value").fill("work-watched")
    add.click()
    form.get_by_label("Field").last.select_option("paymentAmount")
    form.get_by_label("Comparison").last.select_option(">=")
    form.get_by_label("Compared with").last.select_option("parameter")
    form.get_by_label("Value").last.fill("no-such")
    form.get_by_label("given as").select_option("parameter")
    form.get_by_label("Limit").fill("work-low")
    words = "only where payer is in the list work-watched and amount ≥ parameter"
    expect(form.get_by_text(f"> parameter work-low, {words} no-such")).to_be_visible()
    form.get_by_label("given as").select_option("number")
    form.get_by_label("Limit").fill("1000000")
    form.get_by_role("button", name="Publish the new version").click()
    expect(form.get_by_text("there is no parameter 'no-such' yet")).to_be_visible()
    form.get_by_label("Value").last.fill("work-low")
    form.get_by_role("button", name="Publish the new version").click()
    expect(rule_row.get_by_text(f"{words} work-low")).to_be_visible()
    assert stored(stack, rule["ruleId"])["definition"]["filter"] == {
        "all": [
            {"field": "payeeId", "in": {"list": "work-watched"}},
            {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "work-low"}},
        ]
    }
    # The form shows it as it is.
    rule_row.get_by_role("button", name="Edit").click()
    expect(form.get_by_label("Comparison").first).to_have_value("in-list")
    expect(form.get_by_label("Value").first).to_have_value("work-watched")
    expect(form.get_by_label("Value").last).to_have_value("work-low")
    expect(form.get_by_label("Compared with").last).to_have_value("parameter")
    window.is_clean("answered 412", "answered 422")


def test_what_is_wrong_is_said_at_its_field(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    window.go("/rules")
    window.page.get_by_role("button", name="New rule").click()
    form = window.page.get_by_role("dialog", name="New rule")
    form.get_by_role("button", name="Publish").click()
    expect(form.get_by_text("Give the rule a name.")).to_be_visible()
    form.get_by_label("Name").fill("Wrong")
    form.get_by_label("Limit").fill("twelve")
    form.get_by_label("within").fill("999999999")
    form.get_by_role("button", name="Publish").click()
    for field in ("limit", "windowSeconds"):
        expect(form.locator(f"[data-field={field}] .field-error")).to_be_visible()
    expect(form.get_by_label("Limit")).to_be_focused()
    window.is_clean("answered 422")


def test_a_rule_that_somebody_else_changed_is_not_overwritten(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    window.go("/rules")
    row_of(window.page, rule).get_by_role("button", name="Edit").click()
    with stack.registry("second-analyst") as registry:
        body = definition(rule["name"], limit=3)
        registry.put(f"/v1/rules/{rule['ruleId']}", json=body, headers={"If-Match": '"1"'}).raise_for_status()
    form = window.page.get_by_role("dialog", name=re.compile("Change"))
    form.get_by_label("Limit").fill("4")
    form.get_by_role("button", name="Publish the new version").click()
    expect(form.get_by_text("Somebody else changed this rule meanwhile.")).to_be_visible()
    assert stored(stack, rule["ruleId"])["definition"]["limit"] == "3"
    window.is_clean("answered 412")


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
    inside = [each for each in tripped.alerts if tripped.alerts[-1]["eventTime"] < each["eventTime"]]
    inside = [each for each in inside if each["eventTime"] < tripped.alerts[0]["eventTime"]]
    expect(page.locator("#alert-list li")).to_have_count(len(inside))
    window.is_clean()


def test_no_filter_is_offered_before_the_address_is_read(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page, rule_id = window.page, tripped.rule["ruleId"]
    page.route("**/console/session", lambda route: route.abort())
    window.go(f"/alerts?ruleId={rule_id}")
    expect(page.get_by_text("The alert service does not answer.")).to_be_visible()
    expect(page.get_by_label("Voided payments")).to_be_hidden()
    page.unroute("**/console/session")
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
        re.compile(r"The engine holds the (1 rule|\d+ rules) that the registry published\."), timeout=60_000
    )
    window.is_clean()


def test_after_an_interruption_nothing_is_missing(
    open_window: OpenWindow, stack: RunningStack, tripped: Tripped
) -> None:
    window = open_window("viewer")
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
