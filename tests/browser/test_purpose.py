"""What a rule is for: said in its form, shown with the rule and with its alerts, and filtered by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits, looks_well
from tests.browser.support.pictures import picture
from tests.browser.support.rule_work import row_of, stored
from tests.browser.traffic import Tripped
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

PURPOSE: dict[str, Any] = {
    "description": "Cards that are tried out before they are used.\nOften at night.",
    "severity": "critical",
    "tags": ["cards", "night"],
    "owner": "Fraud desk",
    "playbook": "https://wiki.example/playbooks/card-testing",
}


@pytest.fixture
def purposed(stack: RunningStack, tripped: Tripped) -> Iterator[Tripped]:
    """The rule that tripped, with a purpose; without one again at the end, for other tests."""
    path = f"/v1/rules/{tripped.rule['ruleId']}/purpose"
    with stack.registry() as registry:
        registry.put(path, json=PURPOSE, headers={"If-Match": "*"}).raise_for_status()
        yield tripped
        registry.put(path, json={}, headers={"If-Match": "*"}).raise_for_status()


def test_it_is_said_in_a_form_and_shown(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    window.go("/rules")
    row = row_of(window.page, rule)
    row.get_by_role("button", name="Purpose").click()
    form = window.page.get_by_role("dialog", name="is for")
    form.get_by_label("Severity").select_option("high")
    form.get_by_label("Owner").fill("Ada")
    form.get_by_label("Tags").fill("mules, work  mules")
    form.get_by_label("Playbook").fill("http://wiki.example/")
    form.get_by_label("Description").fill("Mules are paid by many.")
    form.get_by_role("button", name="Save").click()
    expect(form.locator("[data-field=playbook] .field-error")).to_be_visible()
    form.get_by_label("Playbook").fill("https://wiki.example/mules")
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    expect(row.get_by_text("high", exact=True)).to_be_visible()
    expect(row.get_by_text("Mules are paid by many.")).to_be_visible()
    expect(row.get_by_text("#work")).to_be_visible()
    link = row.get_by_role("link", name="Playbook")
    expect(link).to_have_attribute("href", "https://wiki.example/mules")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    now = stored(stack, rule["ruleId"])
    assert (now["purpose"]["tags"], now["version"]) == (["mules", "work"], 1)
    window.page.locator("#rules-tag").select_option("work")
    expect(window.page.locator("#rule-list > li")).to_have_count(1)
    window.page.locator("#rules-severity").select_option("info")
    expect(window.page.get_by_text("No rule fits these filters.")).to_be_visible()
    window.is_clean("answered 422")


def test_who_may_not_change_rules_reads_it(open_window: OpenWindow, rule: dict[str, Any]) -> None:
    window = open_window("viewer")
    window.go("/rules")
    row = row_of(window.page, rule)
    expect(row.get_by_role("link", name="Alerts")).to_be_visible()
    expect(row.get_by_role("button", name="Purpose")).to_have_count(0)
    looks_well(window, "rules-viewer")
    window.is_clean()


def test_alerts_of_more_rules_than_the_alert_service_takes_at_once(
    open_window: OpenWindow, stack: RunningStack, purposed: Tripped
) -> None:
    """The registry has 250 rules of that severity, as far as the console can see; only one of them has alerts."""
    window = open_window("analyst")
    asked: list[str] = []

    def as_many(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        if "state=DELETED" not in route.request.url:
            body["items"] += [{**body["items"][0], "ruleId": 2**40 + number} for number in range(250)]
        route.fulfill(response=answer, json=body)

    window.page.route("**/console/registry/rules?severity=critical*", as_many)
    window.page.on("request", lambda request: asked.append(request.url))
    window.go("/alerts?severity=critical")
    rows = window.page.locator("#alert-list > li")
    expect(rows.filter(has_text=purposed.rule["name"])).to_have_count(min(25, len(purposed.alerts)))
    expect(rows).to_have_count(min(25, len(purposed.alerts)))
    assert len({url for url in asked if "/v1/alerts?" in url and "ruleId=" in url}) == 3
    with stack.alerts() as alerts:
        query = {"ruleId": purposed.rule["ruleId"]}
        counted = alerts.get("/v1/alerts/summary", params=query).raise_for_status().json()["byState"]
    chart = window.page.get_by_role("img", name="Alerts by hour:")
    expect(chart).to_have_attribute(
        "aria-label", f"Alerts by hour: {counted['open']} open, {counted['acknowledged']} acknowledged"
    )
    window.page.locator("#alerts-severity").select_option("low")
    expect(chart).to_have_attribute("aria-label", "Alerts by hour: 0 open, 0 acknowledged")
    window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_alerts_show_it_and_are_found_by_it(open_window: OpenWindow, purposed: Tripped, width: int) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 900})
    window.go("/rules")
    expect(row_of(window.page, purposed.rule).get_by_text("critical", exact=True)).to_be_visible()
    fits(window, width)
    picture(window.page, f"purpose-rules-{width}")
    window.go("/alerts?severity=critical&owner=Fraud+desk")
    rows = window.page.locator("#alert-list > li")
    expect(rows.first.get_by_text("critical", exact=True)).to_be_visible()
    expect(rows.filter(has_text=purposed.rule["name"])).to_have_count(min(25, len(purposed.alerts)))
    expect(window.page.locator("#alerts-severity")).to_have_value("critical")
    fits(window, width)
    picture(window.page, f"purpose-alerts-{width}")
    window.page.locator("#alerts-severity").select_option("low")
    expect(window.page.get_by_text("No alert fits these filters.")).to_be_visible()
    window.go(f"/alerts/{purposed.alerts[0]['alertId']}")
    part = window.page.locator(".alert-page .purpose")
    link = part.get_by_role("link", name="Playbook")
    expect(link).to_have_attribute("href", PURPOSE["playbook"])
    for text in ("critical", "Often at night.", "Fraud desk", "#cards"):
        expect(part.get_by_text(text)).to_be_visible()
    fits(window, width)
    picture(window.page, f"purpose-alert-{width}")
    window.is_clean()
