"""Lists and parameters are made and changed, and rules name them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.forms import fill, opened, send
from tests.browser.support.lists import list_row, put_list
from tests.browser.support.rule_work import edited, row_of, stored
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


WORDS = "only where payer is in the list work-named and amount ≥ parameter"


def test_a_list_is_made(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    form = opened(page, "New list", "New list")
    fill(form, {"Name": "work-made", "Values": "25\n mallory \n\n25\n"})
    expect(form.get_by_role("status")).to_have_text("2 values")
    send(form, "Save")
    expect(list_row(page, "work-made")).to_contain_text("2 values")
    window.is_clean()


def test_a_list_of_that_name_again_is_not_taken_for_a_change_of_it(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    put_list(stack, "work-known", "25")
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    form = opened(page, "New list", "New list")
    send(form, "Save", {"Name": "work-known"})
    expect(form.get_by_text("There is one of that name already.")).to_be_visible()
    page.keyboard.press("Escape")
    window.is_clean("answered 412")


def test_a_change_by_somebody_else_is_seen_without_a_reload(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    put_list(stack, "work-watched", "25", "mallory")
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    row = list_row(page, "work-watched")
    expect(row).to_contain_text("2 values")
    put_list(stack, "work-watched", "25", "mallory", " x ", who="second-analyst")
    expect(row).to_contain_text("3 values")
    expect(row).to_contain_text("version 2, by second-analyst")
    changing = opened(page, row.get_by_role("button", name="Change"), "Change the list work-watched")
    expect(changing.get_by_label("Values")).to_have_value(" x \n25\nmallory")
    send(changing, "Save", {"Values": " x \n25\nmallory\nmallet"})
    expect(row).to_contain_text("version 3, by analyst")
    with stack.registry() as registry:
        kept = registry.get("/v1/lists/work-watched").json()["values"]
    assert kept == [" x ", "25", "mallet", "mallory"]
    window.is_clean()


def test_a_parameter_is_made(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    send(opened(page, "New parameter", "New parameter"), "Save", {"Name": "work-made", "Value": "1,000.50"})
    parameters = page.get_by_role("region", name="Parameters").get_by_role("listitem")
    expect(parameters.filter(has_text="work-made")).to_contain_text("1,000.5")
    window.is_clean()


def test_a_rule_names_a_list_and_a_parameter(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    put_list(stack, "work-named", "25")
    with stack.registry() as registry:
        registry.put("/v1/parameters/work-low", json={"value": "1000.5"}).raise_for_status()
    window = open_window("analyst")
    page = window.page
    window.go("/rules")
    form = edited(page, rule)
    name_both(form)
    expect(form.get_by_text(f"> parameter work-low, {WORDS} no-such")).to_be_visible()
    form.get_by_label("given as").select_option("number")
    form.get_by_label("Limit").fill("1000000")
    form.get_by_role("button", name="Publish the new version").click()
    expect(form.get_by_text("there is no parameter 'no-such' yet")).to_be_visible()
    form.get_by_label("Value").last.fill("work-low")
    form.get_by_role("button", name="Publish the new version").click()
    expect(row_of(page, rule).get_by_text(f"{WORDS} work-low")).to_be_visible()
    assert stored(stack, rule["ruleId"])["definition"]["filter"] == {
        "all": [
            {"field": "payeeId", "in": {"list": "work-named"}},
            {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "work-low"}},
        ]
    }
    # The form shows it as it is.
    edited(page, rule)
    expect(form.get_by_label("Comparison").first).to_have_value("in-list")
    expect(form.get_by_label("Value").first).to_have_value("work-named")
    expect(form.get_by_label("Value").last).to_have_value("work-low")
    expect(form.get_by_label("Compared with").last).to_have_value("parameter")
    window.is_clean("answered 412", "answered 422")


def name_both(form: Locator) -> None:
    """Payers in the list, amounts from a parameter on that nobody has made, and a parameter as the limit."""
    add = form.get_by_role("button", name="Add a condition")
    add.click()
    form.get_by_label("Field").select_option("payeeId")
    form.get_by_label("Comparison").select_option(label="is in the list")
    form.get_by_label("Value").fill("work-named")
    add.click()
    form.get_by_label("Field").last.select_option("paymentAmount")
    form.get_by_label("Comparison").last.select_option(">=")
    form.get_by_label("Compared with").last.select_option("parameter")
    form.get_by_label("Value").last.fill("no-such")
    form.get_by_label("given as").select_option("parameter")
    form.get_by_label("Limit").fill("work-low")
