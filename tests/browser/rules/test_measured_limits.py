"""Limits that are measured: the form that writes them, and the alert that draws both windows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.rules.test_conditions import new_rule
from tests.browser.support.condition_cases import AGAINST_ITS_USUAL, AGAINST_ITS_USUAL_IN_WORDS, USUAL
from tests.browser.support.pictures import picture
from tests.browser.test_pages import EXAMPLES, show
from tests.browser.traffic import delete_rule
from tests.browser.windows import Window, answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Browser: three times the usual"
EXAMPLE = EXAMPLES / "alerts.v1" / "relative.json"
MEASURE = {
    **USUAL,
    "groupingKeyNames": ["payeeId"],
    "filter": {"field": "paymentType", "operator": "=", "value": "CSH"},
}
LIMIT = {"measure": MEASURE, "times": "2.5", "plus": "100", "plusDeviations": "1.5"}
WORDS = "> 2.5 × (average of amount per payer within the 30 days before, if there are at least 5, only where"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_form_writes_a_limit_that_is_measured(
    open_window: OpenWindow, stack: RunningStack, width: int
) -> None:
    """Three times his usual, by keyboard: written, refused at its row, saved, read back and changed without loss."""
    window = open_window("analyst", viewport={"width": width, "height": 844})
    page = window.page
    dialog = new_rule(window)
    write_the_limit(dialog)
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, f"measured-limit-{width}", full_page=True)
    try:
        dialog.get_by_role("button", name="Publish").press("Enter")
        expect(dialog).to_be_hidden()
        rule = stored(stack)
        assert rule["definition"]["conditions"] == {**AGAINST_ITS_USUAL, "limit": LIMIT}
        expect(page.locator("#rule-list").get_by_text(WORDS)).to_be_visible()
        # It is changed without loss: by the form, and as JSON.
        page.get_by_role("button", name=f"Edit: {NAME}").click()
        dialog = page.get_by_role("dialog", name="Change")
        baseline = dialog.get_by_role("group", name="Measured against")
        expect(baseline.get_by_label("in the same group as the condition")).to_be_checked()
        expect(baseline.get_by_label("if there are at least")).to_have_value("5")
        expect(baseline.get_by_label("Value")).to_have_value("CSH")
        expect(baseline.get_by_label("Deviations", exact=True)).to_have_value("1.5")
        baseline.get_by_label("Times", exact=True).fill("4")
        written_as_json(dialog)
        dialog.get_by_role("button", name="Publish the new version").press("Enter")
        expect(dialog).to_be_hidden()
        conditions = {**AGAINST_ITS_USUAL, "limit": {**LIMIT, "times": "4"}}
        assert stored(stack)["definition"] == {**rule["definition"], "conditions": conditions}
        window.is_clean("answered 422")
    finally:
        for rule in rules(stack):
            delete_rule(stack, rule["ruleId"])


def rules(stack: RunningStack) -> list[dict[str, Any]]:
    with stack.registry() as registry:
        items: list[dict[str, Any]] = registry.get("/v1/rules", params={"name": NAME}).json()["items"]
    return items


def stored(stack: RunningStack) -> dict[str, Any]:
    (rule,) = rules(stack)
    return rule


def write_the_limit(dialog: Locator) -> None:
    """What is missing is said at its row, and what the registry refuses as well."""
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_label("The rule is").select_option("several")
    condition = dialog.get_by_role("group", name="Condition 1")
    condition.get_by_label("within").fill("1")
    condition.get_by_label("Unit of the window").select_option(label="days")
    source = condition.get_by_label("given as")
    source.focus()
    source.press("End")
    baseline = condition.get_by_role("group", name="Measured against")
    expect(baseline.get_by_label("Aggregate")).to_have_value("AVG")
    words = dialog.locator(".rule-words")
    expect(words).to_have_text(AGAINST_ITS_USUAL_IN_WORDS)
    times = baseline.get_by_label("Times", exact=True)
    times.fill("")
    baseline.get_by_label("if there are at least").fill("0")
    before = baseline.get_by_label("and ends this long before")
    expect(before).to_have_value("1")
    dialog.get_by_role("button", name="Publish").press("Enter")
    expect(baseline.locator("[data-field=times]").get_by_text("Give a number.")).to_be_visible()
    expect(baseline.get_by_text("Give a whole number, or leave it open.")).to_be_visible()
    expect(baseline.get_by_label("Times, given as")).to_be_focused()
    times.press_sequentially("2.5")
    expect(words).to_have_text("")
    baseline.get_by_label("if there are at least").fill("5")
    expect(words).to_contain_text("> 2.5 × its average within the 30 days before, if there are at least 5")
    before.fill("400")
    dialog.get_by_role("button", name="Publish").press("Enter")
    refused = baseline.locator("[data-field=offsetSeconds]")
    expect(refused.get_by_text("expected at most 34560000 s (400 days) with the window")).to_be_visible()
    before.fill("1")
    baseline.get_by_text("Measured of some of the payments alone").press("Enter")
    baseline.get_by_role("button", name="Add a condition").press("Enter")
    baseline.get_by_label("Value").fill("CSH")
    expect(words).to_contain_text("at least 5, only where payment type = CSH)")
    baseline.get_by_label("Plus", exact=True).fill("100")
    deviations = baseline.get_by_label("Deviations", exact=True)
    baseline.get_by_label("Aggregate").select_option("SUM")
    expect(deviations).to_be_hidden()
    baseline.get_by_label("Aggregate").select_option("AVG")
    deviations.fill("1.5")
    expect(words).to_contain_text("plus 100, plus 1.5 of its standard deviations")


def written_as_json(dialog: Locator) -> None:
    """Turns the form to JSON; what no form has a place for stays there; and back to the form."""
    shape = dialog.get_by_label("The rule is")
    shape.select_option("text")
    text = dialog.get_by_label("What it measures, as JSON")
    body = json.loads(text.input_value())
    assert body["conditions"]["limit"]["times"] == "4"
    expect(dialog.locator(".rule-words")).to_contain_text("> 4 × (average of amount")
    text.fill("{")
    dialog.get_by_role("button", name="Publish the new version").click()
    expect(dialog.get_by_text("It is not JSON")).to_be_visible()
    text.fill(json.dumps({**body, "perhaps": 1}))
    shape.select_option("several")
    expect(dialog.get_by_text("That form has no place for all that is written here.")).to_be_visible()
    dialog.get_by_role("button", name="Publish the new version").click()
    expect(dialog.get_by_text("perhaps: ")).to_be_visible()
    text.fill(json.dumps(body))
    shape.select_option("several")
    times = dialog.get_by_role("group", name="Measured against").get_by_label("Times", exact=True)
    expect(times).to_have_value("4")


@pytest.mark.parametrize("width", [390, 1280])
def test_an_alert_draws_the_window_of_its_limit_beside_its_own(open_window: OpenWindow, width: int) -> None:
    window = open_window("viewer", viewport={"width": width, "height": 844}, timezone_id="UTC")
    page = window.page
    (condition,) = json.loads(EXAMPLE.read_text("utf-8"))["conditions"]
    newest, second, oldest = condition["limitMeasure"]["contributors"]["transactions"]
    voided = {name: second[name] for name in ("transactionId", "eventTime")}
    show(
        window,
        "relative",
        "rule-published-relative",
        voided=[{**voided, "commandId": "a", "position": 1}],
    )
    strip = page.locator(".window-strip")
    judged, behind = strip.locator("g.strip-judged"), strip.locator("g.strip-behind")
    legend = strip.get_by_role("list", name="Legend").get_by_role("listitem")
    expect(legend).to_have_text(
        [
            (
                "The rule's window: Sum of amount per payer within 1 day = 3,500 > 1,000.000001, of 2 payments, "
                "19 Nov, 12:20:00 to 20 Nov, 12:20:00"
            ),
            (
                "What its limit was measured over: Average of amount per payer within 30 days before the last 1 day, "
                "if there are at least 3 = 333.333334, × 3, of 3 payments, 20 Oct, 12:20:00 to 19 Nov, 12:20:00"
            ),
        ]
    )
    # To scale: a day of 31 days at the end, and the thirty before it up to where it begins.
    rects = [judged.locator("rect"), behind.locator("rect")]
    ends = [[float(rect.get_attribute(name) or "") for name in ("x", "width")] for rect in rects]
    assert ends == [[pytest.approx(30_000 / 31), pytest.approx(1_000 / 31)], [0, pytest.approx(30_000 / 31)]]
    assert (judged.locator(".strip-mark").count(), behind.locator(".strip-mark").count()) == (2, 3)
    assert judged.locator(".strip-mark.trips title").text_content() == "t-44, 20 Nov 2025, 12:20:00"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture(window.page, f"relative-alert-{width}", full_page=True)
    what_the_limit_came_from(window, condition)
    expect(page.locator(".time-line").nth(1).get_by_role("listitem")).to_contain_text(
        [newest["transactionId"], f"{second['transactionId']} voided", oldest["transactionId"]]
    )
    window.is_clean()


def what_the_limit_came_from(window: Window, condition: dict[str, Any]) -> None:
    """The explanation has a time line for the value, and one for the limit, which goes on by pages."""
    path = f"**/v1/alerts/{json.loads(EXAMPLE.read_text('utf-8'))['alertId']}"
    measure = {"plusDeviations": None, "deviation": None, **condition["limitMeasure"]}
    listed = measure["contributors"]["transactions"]
    explained = {**measure, "contributors": {**measure["contributors"], "transactions": listed[:1]}}
    rule = {"unavailable": "The rules registry does not answer now."}
    body = {
        "sentence": "Why.",
        "outcome": "match",
        "conditions": [{**condition, "limitMeasure": explained}],
        "weighted": None,
        "rule": rule,
    }
    answers(window, f"{path}/explanation", body)
    page = {"count": len(listed), "listed": len(listed), "items": listed}
    answers(window, f"{path}/contributors?condition=0&limit=50&of=limit", page)
    window.page.get_by_role("button", name="Explain").click()
    lines = window.page.locator(".condition-line")
    expect(lines.nth(0)).to_contain_text("3,500 > 1,000.000001, from 2 payments")
    expect(lines.nth(1)).to_contain_text("The limit 1,000.000001: 3 × 333.333334, from 3 payments")
    lines.nth(1).get_by_role("button", name="Show every payment").click()
