"""Bucketed rules and the commands of operators in the console: the form, the bounds, marks, controls, backfills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.rules.test_conditions import new_rule
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.test_keyboard import NAMELESS, tab_to
from tests.browser.test_pages import show
from tests.browser.traffic import Tripped, definition, published_rule, tripped_rule
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Operators: in buckets"


@pytest.fixture
def rule(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A rule to clear that nothing trips."""
    with published_rule(stack, definition("Operators: a rule to clear", limit=1_000_000)) as made:
        yield made


@pytest.fixture(scope="module")
def rested(running_stack: RunningStack) -> Iterator[Tripped]:
    """Alerts of this module's own: what is voided here marks nobody else's."""
    with tripped_rule(running_stack, "Operators: alerts that rest on payments") as tripped:
        yield tripped


@pytest.mark.parametrize("width", [390, 1280])
def test_a_rule_is_written_in_buckets(open_window: OpenWindow, stack: RunningStack, width: int) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 844})
    page = window.page
    dialog = new_rule(window)
    dialog.get_by_label("Begin with").select_option(label="Large sum to one beneficiary")
    dialog.get_by_label("Name").fill(NAME)
    length = dialog.get_by_label("Length of a bucket")
    expect(length).to_be_hidden()
    dialog.get_by_label("Precision").select_option("bucketed")
    expect(length).to_have_value("1")
    expect(dialog.locator(".rule-words")).to_contain_text(
        "within 1 day > 200,000 (windows in buckets of 1 hour)"
    )
    wrong = dialog.locator("[data-field=precision] .field-error")
    length.fill("")
    dialog.get_by_role("button", name="Publish").click()
    expect(wrong).to_have_text("Give the length of a bucket, a whole number.")
    length.fill("25")
    dialog.get_by_role("button", name="Publish").click()
    expect(wrong).to_contain_text("expected buckets of 9 to 86400 seconds")
    expect(dialog.get_by_label("Precision")).to_be_focused()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, f"bucketed-form-{width}", full_page=True)
    length.fill("2")
    dialog.get_by_label("Aggregate").select_option("COUNT_DISTINCT")
    dialog.get_by_label("Different what").select_option("paymentType")
    dialog.get_by_role("button", name="Publish").click()
    expect(wrong).to_contain_text("bucketed with COUNT_DISTINCT has no clear meaning")
    dialog.get_by_label("Aggregate").select_option("SUM")
    try:
        dialog.get_by_role("button", name="Publish").click()
        expect(dialog).to_be_hidden()
        row = page.get_by_role("listitem").filter(has_text=NAME)
        expect(row.get_by_text("(windows in buckets of 2 hours)")).to_be_visible()
        with stack.registry() as registry:
            (made,) = registry.get("/v1/rules", params={"name": NAME}).json()["items"]
        assert made["definition"]["precision"] == "bucketed(7200)"
        row.get_by_role("button", name="Edit").click()
        changing = page.get_by_role("dialog", name=re.compile("Change"))
        expect(changing.get_by_label("Length of a bucket")).to_have_value("2")
        expect(changing.get_by_label("Unit of a bucket")).to_have_value("3600")
        changing.get_by_label("Precision").select_option("exact")
        changing.get_by_role("button", name="Publish the new version").click()
        expect(changing).to_be_hidden()
        row.get_by_role("link", name=NAME, exact=True).click()
        change = page.get_by_role("list", name="Versions").get_by_role("row", name=re.compile("^Precision"))
        expect(change).to_contain_text("in buckets of 2 hours")
        expect(change.locator("ins")).to_have_text("exact")
        fits(window, width)
        window.is_clean("answered 422")
    finally:
        with stack.registry() as registry:
            for item in registry.get("/v1/rules", params={"name": NAME}).json()["items"]:
                registry.delete(f"/v1/rules/{item['ruleId']}", headers={"If-Match": "*"})


@pytest.mark.parametrize("width", [390, 1280])
def test_an_alert_of_a_bucketed_rule_says_its_bounds(open_window: OpenWindow, width: int) -> None:
    window = open_window("viewer", viewport={"width": width, "height": 844}, timezone_id="UTC")
    page = window.page
    show(window, "bucketed", "rule-published-bucketed")
    said = "bucketed, in buckets of 1 hour: between 50,900.5 and 51,220.5 for the exact window"
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.locator(".alert-head .tag").filter(has_text="bucketed")).to_have_attribute(
        "title", "Windows in buckets of 1 hour: between 50,900.5 and 51,220.5 for the exact window"
    )
    expect(page.get_by_text("The newest 2 of 412; the others are kept in buckets.")).to_be_visible()
    expect(page.get_by_text(re.compile("of a window of 30 days"))).to_be_visible()
    fits(window, width)
    picture(window.page, f"bucketed-alert-{width}", full_page=True)
    show(window, "chained-bucketed", "rule-published-chained-bucketed")
    listed = page.locator(".judged-condition")
    expect(listed.nth(0).get_by_text("not bounded for the exact window")).to_be_visible()
    expect(listed.nth(1).get_by_text("between 1,320 and 1,400 for the exact window")).to_be_visible()
    expect(page.locator(".alert-head .tag").filter(has_text="bucketed")).to_be_visible()
    fits(window, width)
    window.is_clean()


def test_a_voided_payment_marks_the_alerts_that_rest_on_it(open_window: OpenWindow, rested: Tripped) -> None:
    window = open_window("ops")
    page = window.page
    # the oldest alert: the newer ones of that payer list its payment as well
    alert = rested.alerts[-1]
    payment = alert["transaction"]["transactionId"]
    watching = open_window("viewer", viewport={"width": 390, "height": 844})
    watching.go(f"/alerts?ruleId={rested.rule['ruleId']}")
    rows = watching.page.locator("#alert-list li")
    expect(rows).to_have_count(len(rested.alerts))
    expect(rows.get_by_text("voided", exact=True)).to_have_count(0)

    window.go(f"/alerts/{alert['alertId']}")
    page.get_by_role("link", name="Void this payment").click()
    window.shows("Controls")
    expect(page.get_by_label("Transaction id")).to_have_value(payment)
    expect(page.get_by_label("Event time")).to_have_value(str(alert["transaction"]["eventTime"]))
    page.get_by_role("button", name="Void the payment").click()
    dialog = page.get_by_role("dialog", name="Void a payment?")
    expect(dialog).to_contain_text(payment)
    expect(dialog).to_contain_text("may rest on it without a mark")
    dialog.get_by_role("button", name="Void the payment").click()
    done = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
    expect(done).to_contain_text(f"{payment} of")
    expect(done).to_contain_text("by ops")

    # The list follows without being read again; every alert lists it.
    expect(rows.get_by_text("voided", exact=True)).to_have_count(len(rested.alerts))
    fits(watching, 390)
    picture(watching.page, "voided-list-390", full_page=True)
    window.go(f"/alerts/{alert['alertId']}")
    expect(page.get_by_text(f"The payment that tripped it, {payment}, was voided.")).to_be_visible()
    expect(page.get_by_text(f"Payment {payment} voided by ops")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=payment).get_by_text("voided", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Void this payment")).to_have_count(0)
    # who gives commands does not acknowledge
    expect(page.get_by_role("button", name="Acknowledge")).to_be_hidden()
    picture(window.page, "voided-alert-1280", full_page=True)
    window.go(f"/alerts/{rested.alerts[0]['alertId']}")
    expect(
        page.get_by_text(re.compile(rf"^{payment} of .*, which counted for it, was voided\.$"))
    ).to_be_visible()

    # And the filter finds them.
    window.go(f"/alerts?ruleId={rested.rule['ruleId']}")
    page.get_by_label("Voided payments").select_option(label="On none that was voided")
    expect(page.get_by_text("No alert fits these filters.")).to_be_visible()
    page.get_by_label("Voided payments").select_option(label="Rests on a voided payment")
    expect(page).to_have_url(re.compile(r"voided=true$"))
    expect(page.locator("#alert-list li")).to_have_count(len(rested.alerts))
    window.is_clean()
    watching.is_clean()


def card(page: Page, title: str) -> Any:
    """The card of a command."""
    return page.locator(".command").filter(has=page.get_by_role("heading", name=title, exact=True))


@pytest.mark.parametrize("width", [390, 1280])
def test_a_rule_and_a_group_are_cleared(open_window: OpenWindow, rule: dict[str, Any], width: int) -> None:
    window = open_window("ops", viewport={"width": width, "height": 844})
    page = window.page
    window.go("/controls")
    whole, group = card(page, "Have one rule forget"), card(page, "Have one rule forget one group")
    whole.get_by_role("button", name="Forget for this rule").click()
    expect(whole.locator("[data-field=ruleId] .field-error")).to_have_text("Choose a rule.")
    expect(whole.get_by_label("Rule")).to_be_focused()
    whole.get_by_label("Rule").select_option(label=rule["name"])
    whole.get_by_role("button", name="Forget for this rule").click()
    dialog = page.get_by_role("dialog", name="Have one rule forget?")
    expect(dialog).to_contain_text(rule["name"])
    dialog.get_by_role("button", name="Forget for this rule").click()
    first = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
    expect(first).to_contain_text("Have one rule forget, by ops")
    expect(first).to_contain_text(rule["name"])

    group.get_by_label("Rule").select_option(label=rule["name"])
    group.get_by_role("button", name="Forget this group").click()
    expect(group.get_by_text("Give the payer.")).to_be_visible()
    group.get_by_label("Payer").fill("25")
    group.get_by_role("button", name="Forget this group").click()
    dialog = page.get_by_role("dialog", name="Have one rule forget one group?")
    expect(dialog).to_contain_text("payer 25")
    picture(window.page, f"controls-{width}", full_page=True)
    dialog.get_by_role("button", name="Forget this group").click()
    expect(first).to_contain_text("Have one rule forget one group, by ops")
    expect(first).to_contain_text(f"{rule['name']}: payer 25.")
    fits(window, width)
    assert page.evaluate(NAMELESS) == []
    window.is_clean()


def test_what_the_registry_refuses_is_said_at_its_field(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    bucketed = {**definition("Operators: a bucketed rule", limit=1_000_000), "precision": "bucketed(60)"}
    with published_rule(stack, bucketed) as other:
        window = open_window("ops")
        page = window.page
        window.go("/controls")
        group = card(page, "Have one rule forget one group")
        option = group.get_by_role("option", name=f"{other['name']} (bucketed)")
        expect(option).to_be_disabled()
        group.get_by_label("Rule").select_option(label=rule["name"])
        group.get_by_label("Payer").fill("25")
        # Somebody changes what the rule groups by before the command is sent.
        page.route("**/console/registry/rules?*", lambda route: route.abort())
        with stack.registry() as registry:
            body = {**definition(rule["name"], limit=1_000_000), "groupingKeyNames": ["beneficiaryId"]}
            registry.put(
                f"/v1/rules/{rule['ruleId']}", json=body, headers={"If-Match": "*"}
            ).raise_for_status()
        group.get_by_role("button", name="Forget this group").click()
        page.get_by_role("dialog").get_by_role("button", name="Forget this group").click()
        expect(group.locator("[data-field=group] > .field-error")).to_contain_text("groups by beneficiaryId")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(group.get_by_label("Payer")).to_be_focused()
        voiding = card(page, "Void a payment")
        voiding.get_by_label("Event time").fill("yesterday, perhaps")
        voiding.get_by_role("button", name="Void the payment").click()
        expect(voiding.get_by_text("Give the transaction's id.")).to_be_visible()
        expect(voiding.get_by_text("Give the event time: ms, or a date and a time.")).to_be_visible()
        assert window.violations() == []


def test_a_backfill_is_started_and_ended_by_keyboard_alone(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window("ops", viewport={"width": 390, "height": 844}, timezone_id="UTC")
    page = window.page
    window.go("/controls")
    expect(page.get_by_role("list", name="Open backfills")).to_contain_text("None is open.")
    tab_to(page, "Start a backfill")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Bring in old payments?")).to_be_visible()
    page.keyboard.press("Enter")
    done = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
    expect(done).to_contain_text("Bring in old payments, by ops")
    with stack.registry() as registry:
        (opened,) = registry.get("/v1/backfills", params={"state": "open"}).json()["items"]
    entry = page.get_by_role("list", name="Open backfills").get_by_role("listitem")
    expect(entry).to_contain_text(f"backfill={opened['backfillId']}")
    fits(window, 390)
    picture(window.page, "backfill-390", full_page=True)
    entry.get_by_label("History is whole from").fill("2026-10-01T12:00:00")
    tab_to(page, "End it")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="End this backfill?")
    expect(dialog).to_contain_text("History counts as whole from 1 Oct 2026, 12:00:00 on")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Open backfills")).to_contain_text("None is open.")
    expect(done).to_contain_text(f"Backfill {opened['backfillId']}: history is whole from 1 Oct 2026")
    with stack.registry() as registry:
        (ended,) = registry.get("/v1/backfills", params={"limit": 1}).json()["items"]
    assert (ended["backfillId"], ended["completeFrom"]) == (opened["backfillId"], 1_790_856_000_000)
    window.is_clean()


def test_who_may_only_look_commands_nothing(open_window: OpenWindow, rested: Tripped) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/controls")
    expect(page.get_by_text("Your key may look, but not give commands.")).to_be_visible()
    buttons = page.locator(".command button")
    expect(buttons).to_have_count(8)
    for button in buttons.all():
        expect(button).to_be_hidden()
    for named in page.locator(".command [data-field]").all():
        expect(named).to_be_hidden()
    window.go(f"/alerts/{rested.alerts[0]['alertId']}")
    expect(page.get_by_role("heading", name="The payment")).to_be_visible()
    expect(page.get_by_role("link", name="Void this payment")).to_have_count(0)
