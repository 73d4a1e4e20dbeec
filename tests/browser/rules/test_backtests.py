"""Backtests in the console: a draft tried from its form, the list, and the page of one, at both widths and schemes."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.accessibility import serious_faults
from tests.browser.support.made_up_backtest import made_up_backtest, made_up_sweep, tried_alerts
from tests.browser.support.pictures import picture
from tests.browser.windows import Window, answers

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

ADDRESS = "**/console/registry/backtests"


def tells(window: Window) -> None:
    answers(
        window,
        f"{ADDRESS}?limit=20",
        {"items": [made_up_backtest("running", knowledge="today"), made_up_backtest()]},
    )
    answers(window, f"{ADDRESS}/12", made_up_backtest())
    answers(window, f"{ADDRESS}/12/alerts?limit=20", tried_alerts())


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_list_and_the_page_of_one(open_window: OpenWindow, width: int, scheme: str) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 844}, color_scheme=scheme)
    tells(window)
    page = window.page
    window.go("/rules")
    page.get_by_role("link", name="Backtests").click()
    items = page.get_by_role("list", name="Backtests").get_by_role("listitem")
    expect(items.first.get_by_text("running, 42 %, 978 alerts, about 2 min left")).to_be_visible()
    expect(items.first.get_by_text("as we know today")).to_be_visible()
    expect(items.nth(1).get_by_text("as we know today")).to_have_count(0)
    expect(items.first.get_by_role("button", name="Cancel")).to_be_visible()
    expect(items.nth(1).get_by_role("button", name="Cancel")).to_have_count(0)
    faults = serious_faults(window)
    assert faults == [], faults
    items.nth(1).get_by_role("link").click()
    for text in ("978", "83 %", "18 of 24 known", "610 of both", "payer payer-1"):
        expect(page.get_by_text(text, exact=False).locator("visible=true").first).to_be_visible()
    expect(page.get_by_role("img", name="42 only of the live rule, 610 of both, 180")).to_be_visible()
    expect(page.locator(".tried-alerts li")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    faults = serious_faults(window)
    assert faults == [], faults
    picture(page, f"backtest-{width}-{scheme}", full_page=True)
    window.is_clean()


def test_several_limits_and_windows_are_curves(open_window: OpenWindow) -> None:
    window = open_window("analyst", viewport={"width": 390, "height": 844})
    answers(window, f"{ADDRESS}/13", made_up_sweep())
    answers(window, f"{ADDRESS}/13/alerts?limit=20", tried_alerts())
    window.go("/rules/backtests?backtest=13")
    page = window.page
    expect(page.get_by_role("img", name="limit 10: 2,400, limit 20: 978, limit 50: 120")).to_be_visible()
    windows = "window 90 seconds: 14, window 10 minutes: 978, window 1 hour: 1,830"
    expect(page.get_by_role("img", name=windows)).to_be_visible()
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_have_text("102,40083 %75 %")
    expect(page.get_by_role("button", name="into the draft")).to_have_count(0)
    expect(page.get_by_role("img", name="42 only of the live rule")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    faults = serious_faults(window)
    assert faults == [], faults
    window.is_clean()


def test_a_draft_is_tried_and_stays_a_draft(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    page = window.page
    answers(window, ADDRESS, made_up_backtest("running"))
    answers(window, f"{ADDRESS}/12", made_up_backtest())
    window.go("/rules")
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog", name="New rule")
    form.get_by_label("Name").fill("A draft")
    form.get_by_label("Begin with").select_option("0")
    form.get_by_label("Over").select_option("30")
    form.get_by_label("Knowing").select_option("today")
    form.get_by_label("Try these beside it").fill("500, 1000.5")
    form.get_by_label("Try these windows").fill("60 3600")
    with page.expect_request(ADDRESS) as asked:
        form.get_by_role("button", name="Try it").click()
    body = asked.value.post_data_json
    assert body is not None
    assert body["to"] - body["from"] == 30 * 86_400_000
    assert body["knowledge"] == "today"
    assert (body["limits"], body["windows"]) == (["500", "1000.5"], [60, 3600])
    assert {"groupingKeyNames", "limit"} <= body["rule"].keys()
    expect(form.get_by_text("978 alerts in 14 groups, 326 a day")).to_be_visible()
    expect(form.get_by_text("precision 83 %, recall 75 %")).to_be_visible()
    link = form.get_by_role("link", name="See all of it")
    expect(link).to_have_attribute("href", "/rules/backtests?backtest=12")
    expect(form.get_by_role("button", name="Publish")).to_be_visible()
    window.is_clean()


def test_a_click_takes_what_was_tried_into_the_draft(open_window: OpenWindow) -> None:
    """From the table, which the keyboard reaches, or from the curve; it is published with that."""
    window = open_window("analyst", viewport={"width": 390, "height": 844})
    page = window.page
    answers(window, ADDRESS, made_up_sweep())
    answers(window, f"{ADDRESS}/13", made_up_sweep())
    window.go("/rules")
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog", name="New rule")
    form.get_by_label("Begin with").select_option("0")
    form.get_by_role("button", name="Try it").click()
    limits, windows = (form.get_by_role("region", name=f"By {name}") for name in ("limit", "window"))
    expect(limits.get_by_role("row")).to_have_count(4)
    expect(form.get_by_text("limit 10: 2,400 alerts")).to_have_count(0)

    limits.get_by_role("button", name="Take limit 50 into the draft").press("Enter")
    limit = form.get_by_label("Limit", exact=True)
    expect(limit).to_have_value("50")
    expect(limit).to_be_focused()
    limits.locator(".sweep-point").first.click()
    expect(limit).to_have_value("10")
    windows.get_by_role("button", name="Take window 1 hour into the draft").click()
    expect(form.get_by_label("within", exact=True)).to_have_value("1")
    expect(form.get_by_label("Unit of the window")).to_have_value("3600")
    expect(form.locator(".rule-words").first).to_contain_text("within 1 hour > 10")

    form.get_by_label("The rule is").select_option("text")
    windows.get_by_role("button", name="Take window 90 seconds into the draft").click()
    limits.get_by_role("button", name="Take limit 20 into the draft").click()
    body = json.loads(form.get_by_label("What it measures, as JSON").input_value())
    assert (body["windowSeconds"], body["limit"]) == (90, "20")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    faults = serious_faults(window)
    assert faults == [], faults
    window.is_clean()
