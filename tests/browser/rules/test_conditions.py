"""Chained rules in the console: their alerts, their traces, and the form that writes them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.pictures import picture
from tests.browser.test_pages import show
from tests.browser.traffic import published_rule
from tests.browser.windows import Window, answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

EXAMPLES = resources.files("tripline_contracts").joinpath("examples")
NAME = "Browser: several conditions"
LEAF: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "999999",
    "windowSeconds": 60,
}


def new_rule(window: Window) -> Locator:
    """The dialog for one."""
    window.go("/rules")
    window.page.get_by_role("button", name="New rule").click()
    return window.page.get_by_role("dialog", name="New rule")


@pytest.mark.parametrize("width", [390, 1280])
def test_an_alert_lists_its_conditions(open_window: OpenWindow, width: int) -> None:
    window = open_window("viewer", viewport={"width": width, "height": 844}, timezone_id="UTC")
    page = window.page
    show(window, "chained", "rule-published-chained")
    expect(page.get_by_text("2 of 3 conditions held")).to_be_visible()
    expect(page.get_by_role("heading", name="The widest window, of condition 3")).to_be_visible()
    said = "within 1 hour > 3; not average of amount per beneficiary and payer within 30 days ≥ 1,500, only where"
    expect(page.get_by_text(said)).to_be_visible()
    listed = page.locator(".judged-condition")
    expect(listed.get_by_role("heading")).to_have_text(
        [
            "1. Sum of amount per payer within 1 hour",
            "2. Number of different beneficiaries per payer within 1 hour",
            "3. Average of amount per beneficiary and payer within 30 days",
        ]
    )
    expect(listed.nth(0).get_by_text("5,100.5 > 5,000")).to_be_visible()
    expect(listed.nth(0).get_by_role("row")).to_have_count(5)
    expect(listed.nth(1).get_by_role("group", name="Different beneficiaries").locator(".tag")).to_have_count(
        4
    )
    expect(listed.nth(2).get_by_text("– ≥ 1,500")).to_be_visible()
    expect(listed.nth(2).get_by_text("does not hold")).to_be_visible()
    expect(listed.nth(2).get_by_text("No payment in the window counts.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture(window.page, f"chained-alert-{width}", full_page=True)
    window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_form_writes_several_conditions(open_window: OpenWindow, stack: RunningStack, width: int) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 844})
    dialog = new_rule(window)
    dialog.get_by_label("Begin with").select_option(label="Much and to many")
    expect(dialog.get_by_role("group", name="Condition 2").get_by_label("Different what")).to_have_value(
        "beneficiaryId"
    )
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_role("button", name="Add a condition to the rule").click()
    third = dialog.get_by_role("group", name="Condition 3")
    third.get_by_label("not: the rule wants it not to hold").check()
    third.get_by_label("beneficiary", exact=True).check()
    third.get_by_text("Only some of the payments").click()
    third.get_by_role("button", name="Add a condition").click()
    third.get_by_label("Value").fill("CSH")
    # What is missing is said at its condition.
    dialog.get_by_role("button", name="Publish").click()
    expect(third.get_by_text("Give a limit.")).to_be_visible()
    third.get_by_label("Limit").fill("100")
    words = dialog.locator(".rule-words")
    expect(words).to_contain_text("not sum of amount per payer and beneficiary within 1 hour > 100")
    expect(dialog.get_by_label("after an alert, count afresh for that group")).to_be_disabled()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, f"chained-form-{width}", full_page=True)
    # And what the registry refuses as well.
    third.get_by_label("payer", exact=True).uncheck()
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_text("expected groupings that all share a field")).to_be_visible()
    third.get_by_label("payer", exact=True).check()
    # A filter that is folded away unfolds where something is wrong with it.
    third.get_by_label("Comparison").select_option(label="is in the list")
    third.get_by_label("Value").fill("no-such")
    third.get_by_text("Only some of the payments").click()
    expect(third.get_by_label("Value")).to_be_hidden()
    dialog.get_by_role("button", name="Publish").click()
    expect(third.get_by_text("there is no list 'no-such' yet")).to_be_visible()
    third.get_by_label("Comparison").select_option("=")
    third.get_by_label("Value").fill("CSH")
    try:
        dialog.get_by_role("button", name="Publish").click()
        expect(dialog).to_be_hidden()
        with stack.registry() as registry:
            (rule,) = registry.get("/v1/rules", params={"name": NAME}).json()["items"]
        _, _, negated = rule["definition"]["conditions"]["all"]
        assert negated["not"]["filter"] == {"field": "paymentType", "operator": "=", "value": "CSH"}
        assert negated["not"]["groupingKeyNames"] == ["beneficiaryId", "payeeId"]
        window.is_clean("answered 422")
    finally:
        with stack.registry() as registry:
            for item in registry.get("/v1/rules", params={"name": NAME}).json()["items"]:
                registry.delete(f"/v1/rules/{item['ruleId']}", headers={"If-Match": "*"})


def test_what_the_form_has_no_place_for_is_edited_as_json(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    deep = {"all": [LEAF, {"not": {"not": LEAF}}]}
    named = {"field": "payeeId", "in": {"list": "conditions-watched"}}
    parametric = {**LEAF, "limit": {"parameter": "conditions-high"}, "filter": named}
    flat = {"any": [parametric, {"not": {**LEAF, "limit": "5"}}]}
    with stack.registry() as registry:
        registry.put("/v1/lists/conditions-watched", json={"values": ["25"]}).raise_for_status()
        registry.put("/v1/parameters/conditions-high", json={"value": "999999"}).raise_for_status()
    with published_rule(stack, {"name": NAME, "conditions": deep}) as rule:
        window = open_window("analyst")
        window.go("/rules")
        window.page.get_by_role("button", name=f"Edit: {NAME}").click()
        dialog = window.page.get_by_role("dialog", name="Change")
        text = dialog.get_by_label("Conditions as JSON")
        assert json.loads(text.input_value()) == rule["definition"]["conditions"]
        text.fill("{")
        dialog.get_by_role("button", name="Publish the new version").click()
        expect(dialog.get_by_text("The conditions are not JSON")).to_be_visible()
        text.fill(json.dumps(flat))
        dialog.get_by_role("button", name="Write the conditions in the form").click()
        first = dialog.get_by_role("group", name="Condition 1")
        expect(first.get_by_label("given as")).to_have_value("parameter")
        expect(first.get_by_label("Limit")).to_have_value("conditions-high")
        expect(first.get_by_label("Comparison")).to_have_value("in-list")
        expect(first.get_by_label("Value")).to_have_value("conditions-watched")
        expect(dialog.locator("datalist")).to_have_count(2)
        expect(dialog.get_by_role("group", name="Condition 2").get_by_label("Limit")).to_have_value("5")
        dialog.get_by_role("button", name="Publish the new version").click()
        expect(dialog).to_be_hidden()
        with stack.registry() as registry:
            changed = registry.get(f"/v1/rules/{rule['ruleId']}").json()["definition"]["conditions"]
        assert changed == flat
        window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_an_alert_tells_the_weights(open_window: OpenWindow, width: int) -> None:
    window = open_window("viewer", viewport={"width": width, "height": 844}, timezone_id="UTC")
    page = window.page
    show(window, "weighted", "rule-published-weighted")
    said = page.locator(".weighed")
    expect(said).to_contain_text("49.5 ≥ 45")
    expect(said.locator(".tag")).to_have_text(
        ["30 condition 1 holds", "40 condition 2 holds", "−20.5 condition 3 holds"]
    )
    expect(page.get_by_text("Weights that add up to at least 45: 30 for sum of amount")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture(window.page, f"weighted-alert-{width}", full_page=True)
    window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_deeper_tree_is_nested_by_keyboard_and_read_back(
    open_window: OpenWindow, stack: RunningStack, width: int
) -> None:
    with stack.registry() as registry:
        registry.put("/v1/parameters/conditions-many", json={"value": "40"}).raise_for_status()
    several = {"any": [LEAF, {"not": {**LEAF, "limit": "5"}}]}
    many = {"weight": {"parameter": "conditions-many"}, "of": {"not": several}}
    deep = {"weighted": [{"weight": "30", "of": LEAF}, many], "atLeast": "45.5"}
    with published_rule(stack, {"name": NAME, "conditions": deep}) as rule:
        window = open_window("analyst", viewport={"width": width, "height": 844})
        window.go("/rules")
        page = window.page
        page.get_by_role("button", name=f"Edit: {NAME}").click()
        dialog = page.get_by_role("dialog", name="Change")
        expect(dialog.get_by_label("The rule holds where")).to_have_value("weighted")
        expect(dialog.get_by_label("The weights add up to at least", exact=True).first).to_have_value("45.5")
        weights = dialog.get_by_label("Weight", exact=True).locator("visible=true")
        expect(weights.nth(0)).to_have_value("30")
        expect(weights.nth(1)).to_have_value("conditions-many")
        group = dialog.get_by_role("group", name="Group", exact=True)
        expect(group.get_by_label("not: the rule wants it not to hold").first).to_be_checked()
        expect(group.get_by_role("group", name="Condition 3").get_by_label("Limit")).to_have_value("5")
        words = dialog.locator(".rule-words")
        expect(words).to_contain_text("eights that add up to at least 45.5: 30 for sum of amount per payer")
        expect(words).to_contain_text("parameter conditions-many for not (any of: sum of amount per payer")
        # Without a pointer: a group is opened, its joint chosen, its weight given.
        dialog.get_by_role("button", name="Add a group to the rule").press("Enter")
        added = dialog.get_by_role("group", name="Group", exact=True).last
        expect(added.get_by_label("not: the rule wants it not to hold").first).to_be_focused()
        joint = added.get_by_label("The group holds where")
        joint.press("ArrowUp")
        expect(joint).to_have_value("all")
        added.get_by_role("button", name="Add a condition to the group").press("Enter")
        expect(dialog.get_by_role("group", name="Condition 5")).to_be_visible()
        added.get_by_role("group", name="Condition 5").get_by_label("Limit").fill("7")
        added.get_by_role("group", name="Condition 4").get_by_label("Limit").fill("6")
        stepped = added.get_by_role("group", name="Condition 5")
        expect(stepped.get_by_label("Steps of the amount")).to_be_hidden()
        stepped.get_by_label("amount", exact=True).press("Space")
        stepped.get_by_label("Steps of the amount").fill("100")
        dialog.get_by_role("button", name="Publish the new version").press("Enter")
        expect(dialog.get_by_text("Give a number.")).to_be_visible()
        expect(weights).to_have_count(3)
        weights.last.fill("-20")
        expect(words).to_contain_text("sum of amount per payer and amount in steps of 100 within")
        picture(window.page, f"weighted-form-{width}", full_page=True)
        assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
        dialog.get_by_role("button", name="Publish the new version").press("Enter")
        expect(dialog).to_be_hidden()
        with stack.registry() as registry:
            changed = registry.get(f"/v1/rules/{rule['ruleId']}").json()["definition"]["conditions"]
        assert changed["weighted"][:2] == deep["weighted"]
        assert (changed["atLeast"], changed["weighted"][2]["weight"]) == ("45.5", "-20")
        leaves = changed["weighted"][2]["of"]["all"]
        assert [leaf["limit"] for leaf in leaves] == ["6", "7"]
        assert leaves[1]["groupingKeyNames"] == ["payeeId", {"field": "paymentAmount", "step": "100"}]
        window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_trace_has_a_line_for_each_condition(
    open_window: OpenWindow, stack: RunningStack, width: int
) -> None:
    traced = EXAMPLES / "rule-traces.v1"
    trace, weighed = (
        json.loads((traced / f"{name}.json").read_text("utf-8"))
        for name in ("chained-holds-still", "weighed-does-not-hold")
    )
    with published_rule(stack, {"name": NAME, "conditions": LEAF}):
        window = open_window("analyst", viewport={"width": width, "height": 844})
        answers(window, "**/v1/rules/*/traces?*", {"items": [trace, {**weighed, "offset": 7}]})
        window.go("/rules")
        window.page.get_by_role("button", name=f"Trace: {NAME}").click()
        rows = window.page.get_by_role("table", name="Evaluations").get_by_role("row")
        row = rows.nth(1)
        expect(row.get_by_role("cell").nth(3)).to_have_text("5,100.54–")
        expect(row.get_by_role("cell").nth(4)).to_have_text("> 5,000> 3≥ 1,500")
        expect(row.get_by_text("holds, no alert")).to_be_visible()
        expect(rows.nth(2).get_by_role("cell").nth(3)).to_have_text("5,100.53–Σ 9.5")
        expect(rows.nth(2).get_by_role("cell").nth(4)).to_have_text("> 5,000> 3≥ 1,500≥ 45")
        told = "The weights do not add up: 30 for condition 1; −20.5 for condition 3"
        expect(rows.nth(2).get_by_text("Σ 9.5")).to_have_attribute("title", told)
        picture(window.page, f"chained-trace-{width}", full_page=True)
        window.is_clean()
