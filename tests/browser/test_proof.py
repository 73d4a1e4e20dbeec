"""An alert is explained and proven in the console, and a payment that tripped nothing is asked about."""

from __future__ import annotations

import json
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import LIMIT, SECONDS, Tripped, alerts_of, definition, is_applied, published_rule
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
PATIENCE = 90_000


def test_an_alert_is_explained_and_proven(open_window: OpenWindow, tripped: Tripped) -> None:
    alert = max(tripped.alerts, key=lambda one: int(one["contributors"]["count"]))
    window = open_window("viewer")
    page = window.page
    window.go(f"/alerts/{alert['alertId']}")
    page.get_by_role("button", name="Explain").click()
    sentence = page.locator("#proof-explained .sentence")
    expect(sentence).to_contain_text(f"Rule “{tripped.rule['name']}”", timeout=PATIENCE)
    expect(sentence).to_contain_text(f"over the limit {LIMIT}")
    line = page.get_by_role("list", name="What counted, newest first")
    page.get_by_role("button", name="Show every payment").click()
    expect(line.get_by_role("listitem")).to_have_count(alert["contributors"]["count"], timeout=PATIENCE)
    expect(page.locator("#proof-mark")).to_be_hidden()
    page.get_by_role("button", name="Verify").click()
    expect(page.locator("#proof-mark")).to_contain_text("✓ Proven", timeout=PATIENCE)
    # and that is kept
    page.reload()
    expect(page.locator("#proof-mark")).to_contain_text("✓ Proven on")
    expect(page.locator("#proof-mark")).to_contain_text("by viewer")
    with page.expect_download(timeout=PATIENCE) as taken:
        page.get_by_role("button", name="Download evidence").click()
    assert taken.value.suggested_filename == f"evidence-alert-{alert['alertId']}.zip"
    with zipfile.ZipFile(taken.value.path()) as archive:
        assert json.loads(archive.read("alert.json"))["alertId"] == alert["alertId"]
    expect(page.locator("#proof-state")).to_have_text("")
    window.is_clean()


def test_why_a_rule_did_not_fire(open_window: OpenWindow, tripped: Tripped) -> None:
    oldest = min(tripped.alerts, key=lambda one: int(one["contributors"]["count"]))
    first = oldest["contributors"]["transactions"][-1]["transactionId"]
    window = open_window("viewer")
    page = window.page
    window.go("/alerts")
    page.get_by_text("Why did it not fire?").click()
    page.get_by_label("Id of the payment").fill(first)
    page.get_by_role("button", name="Ask", exact=True).click()
    row = page.get_by_role("row").filter(has_text=tripped.rule["name"])
    expect(row).to_contain_text("The limit was not reached", timeout=PATIENCE)
    expect(row).to_contain_text(f"> {LIMIT}")
    page.get_by_label("Id of the payment").fill("never-was")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#why-not-state")).to_contain_text(
        "no transaction with id never-was", timeout=PATIENCE
    )
    window.is_clean("answered 404")


def test_why_a_rule_that_weighs_did_not_fire(open_window: OpenWindow, stack: RunningStack) -> None:
    few, many = (
        {name: said for name, said in definition("", limit).items() if name != "name"} for limit in (1, LIMIT)
    )
    weighted = [{"weight": "30.5", "of": few}, {"weight": "-20", "of": many}]
    body = {"name": "Proof: a rule that weighs", "conditions": {"weighted": weighted, "atLeast": "30"}}
    with published_rule(stack, body) as rule:
        eventually(lambda: is_applied(stack, rule), "the rule is applied", SECONDS)
        with stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        # all but the first one, and those for which there were too many
        payee, wanted = played["payeeId"], LIMIT - 1
        eventually(
            lambda: len(alerts_of(stack, rule["ruleId"], payee)) == wanted, "the alerts are there", SECONDS
        )
        newest, *_, oldest = alerts_of(stack, rule["ruleId"], payee)
        first = oldest["conditions"][0]["contributors"]["transactions"][-1]["transactionId"]
        window = open_window("viewer")
        page = window.page
        window.go("/alerts")
        page.get_by_text("Why did it not fire?").click()
        row = page.get_by_role("row").filter(has_text=rule["name"])
        for payment, reason, value in (
            (first, "The limit was not reached", "1; 1; Σ 0"),
            (newest["transaction"]["transactionId"], "It alerted", f"{LIMIT}; {LIMIT}; Σ 30.5"),
        ):
            page.get_by_label("Id of the payment").fill(payment)
            page.get_by_role("button", name="Ask", exact=True).click()
            expect(row).to_contain_text(reason, timeout=PATIENCE)
            expect(row).to_contain_text(value)
            expect(row).to_contain_text("≥ 30")
        window.is_clean()
