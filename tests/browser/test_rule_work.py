"""Rules are changed, paused, compared, deleted: each by what people press."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.rule_work import edited, row_of, stored
from tests.browser.traffic import definition
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def test_a_rule_is_changed(open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]) -> None:
    window = open_window("analyst")
    window.go("/rules")
    form = edited(window.page, rule)
    form.get_by_label("Limit").fill("2000000")
    form.get_by_label("beneficiary").check()
    form.get_by_role("button", name="Add a condition").click()
    form.get_by_label("Value").fill("CSH")
    form.get_by_label("Fires").select_option("crossing")
    form.get_by_role("button", name="Publish the new version").click()
    expect(row_of(window.page, rule).get_by_text("published v2")).to_be_visible()
    now = stored(stack, rule["ruleId"])["definition"]
    assert (now["limit"], now["groupingKeyNames"], now["firing"]) == (
        "2000000",
        ["beneficiaryId", "payeeId"],
        "crossing",
    )
    assert now["filter"] == {"field": "paymentType", "operator": "=", "value": "CSH"}
    window.is_clean()


def test_a_rule_has_an_end_and_keeps_it_until_that_is_taken_away(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)

    def published(version: int, **fields: str) -> dict[str, Any]:
        form = edited(window.page, rule)
        for label, value in fields.items():
            form.get_by_label("Judges until" if label == "until" else "Limit", exact=False).fill(value)
        form.get_by_role("button", name="Publish the new version").click()
        expect(row.get_by_text(f"published v{version}")).to_be_visible()
        return stored(stack, rule["ruleId"])

    assert published(2, until="2040-05-06T07:08:09")["effectiveUntil"] is not None
    expect(row.get_by_text("judges until")).to_be_visible()
    end = stored(stack, rule["ruleId"])["effectiveUntil"]
    assert published(3, limit="2000000")["effectiveUntil"] == end
    assert published(4, until="")["effectiveUntil"] is None
    expect(row.get_by_text("judges until")).to_be_hidden()
    form = edited(window.page, rule)
    form.get_by_label("Judges until").fill("2001-02-03T04:05:06")
    form.get_by_role("button", name="Publish the new version").click()
    expect(form.locator("[data-field=effectiveUntil] .field-error")).to_be_visible()
    window.page.keyboard.press("Escape")
    window.is_clean("answered 422")


def test_a_rule_is_paused_and_resumed(open_window: OpenWindow, rule: dict[str, Any]) -> None:
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)
    row.get_by_role("button", name="Pause").click()
    expect(row.get_by_text("paused", exact=True)).to_be_visible()
    row.get_by_role("button", name="Resume").click()
    expect(row.get_by_text("published v3")).to_be_visible()
    window.is_clean()


def test_choices_that_exclude_each_other_are_disabled(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    window.go("/rules")
    form = edited(window.page, rule)
    form.get_by_label("Fires").select_option("crossing")
    again = form.get_by_label("Late payments").locator("option[value=reevaluate]")
    expect(again).to_be_disabled()
    expect(form.get_by_text("A rule that fires only at a crossing cannot judge again.")).to_be_visible()
    form.get_by_label("Fires").select_option("every")
    form.get_by_label("Late payments").select_option("reevaluate")
    expect(form.get_by_label("Fires").locator("option[value=crossing]")).to_be_disabled()
    expect(form.get_by_label("count afresh")).to_be_disabled()
    expect(form.get_by_label("be silent for that group")).to_be_disabled()
    form.get_by_label("Late payments").select_option("evaluate")
    form.get_by_label("be silent for that group").fill("10")
    expect(again).to_be_disabled()
    form.get_by_label("be silent for that group").fill("")
    form.get_by_label("count afresh").check()
    form.get_by_label("Aggregate").select_option("SECONDS_SINCE_PREVIOUS")
    expect(form.get_by_text("Seconds since the payment before per payer")).to_be_visible()
    for _ in range(2):
        expect(form.get_by_label("count afresh")).not_to_be_checked()
        expect(form.get_by_label("count afresh")).to_be_disabled()
        expect(again).to_be_disabled()
        expect(form.get_by_text("neither counts afresh nor judges again")).to_be_visible()
        form.get_by_label("Aggregate").select_option("CHANGED")
    form.get_by_label("of", exact=True).select_option(label="beneficiary")
    expect(form.get_by_text("Change (1 or 0) of beneficiary per payer")).to_be_visible()
    assert stored(stack, rule["ruleId"])["version"] == 1
    window.is_clean()


def test_a_rule_becomes_one_of_different_values_with_a_cooldown(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    with stack.registry() as registry:
        body = {**definition(rule["name"]), "groupingKeyNames": ["beneficiaryId", "payeeId"]}
        registry.put(f"/v1/rules/{rule['ruleId']}", json=body, headers={"If-Match": '"1"'}).raise_for_status()
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)
    expect(row.get_by_text("published v2")).to_be_visible()
    form = edited(window.page, rule)
    form.get_by_label("payer").uncheck()
    form.get_by_label("Aggregate").select_option("COUNT_DISTINCT")
    form.get_by_label("Different what").select_option(label="payers")
    form.get_by_label("be silent for that group").fill("10")
    form.get_by_role("button", name="Publish the new version").click()
    expect(row.get_by_text("published v3")).to_be_visible()
    expect(row.get_by_text("Number of different payers per beneficiary")).to_be_visible()
    expect(row.get_by_text("silent for 10 minutes after an alert")).to_be_visible()
    now = stored(stack, rule["ruleId"])["definition"]
    assert (now["aggregatorFunctionType"], now["aggregateFieldName"]) == ("COUNT_DISTINCT", "payeeId")
    assert (now["cooldownSeconds"], now["firing"], now["groupingKeyNames"]) == (
        600,
        "every",
        ["beneficiaryId"],
    )
    window.is_clean()


def test_a_rule_is_deleted(open_window: OpenWindow, rule: dict[str, Any]) -> None:
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)
    row.get_by_role("button", name="Delete").click()
    window.page.get_by_role("dialog", name=re.compile("Delete")).get_by_role(
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
    expect(form.get_by_label("within")).to_be_focused()
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
