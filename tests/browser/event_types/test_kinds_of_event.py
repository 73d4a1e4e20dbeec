"""The console of a line that judges several kinds of event: from the form of a rule to the case of a taken account."""

from __future__ import annotations

import re
from typing import Final, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.support.rule_work import stored
from tests.browser.windows import Window
from tests.stack import RunningStack
from tests.unit.engine.support.activities import RULES, TAKEOVER

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

WAIT_MS = 90_000
NAME = "Browser: a taken account"
LOOKS: Final[tuple[tuple[int, Literal["light", "dark"]], ...]] = ((390, "dark"), (1280, "light"))


@pytest.fixture
def stack(browser: Browser, request: pytest.FixtureRequest) -> RunningStack:
    """In place of the one that most tests look at; without a browser it is not started."""
    del browser
    running_stack: RunningStack = request.getfixturevalue("activity_line")
    return running_stack


def test_from_the_form_of_a_rule_to_the_case_of_an_account(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window(None)
    page = window.page
    window.go("/")
    expect(page.get_by_text("Activities are being watched.")).to_be_visible()
    window.sign_in(stack.file["apiKeys"]["analyst"])

    write_the_rule(window)
    with stack.registry() as registry:
        (made,) = registry.get("/v1/rules", params={"name": NAME}).json()["items"]
    assert stored(stack, made["ruleId"])["definition"]["conditions"] == RULES[TAKEOVER]["conditions"]
    trip_it(page, open_window("ops"))
    look_at_the_alert(window)
    look_at_the_case(window)
    window.is_clean()


def looked_at(window: Window, name: str) -> None:
    """Narrow and dark, wide and light."""
    for width, scheme in LOOKS:
        window.page.emulate_media(color_scheme=scheme)
        window.page.set_viewport_size({"width": width, "height": 900})
        fits(window, width)
        picture(window.page, f"{name}-{width}-{scheme}", full_page=True)


def write_the_rule(window: Window) -> None:
    """What there is to choose from is the type's; what only some kinds have is there like the rest."""
    page = window.page
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog", name="New rule")
    labels = [
        "account",
        "kind",
        "result of the log-in",
        "part of the profile",
        "beneficiary",
        "device",
        "IP address",
        "amount",
    ]
    expect(form.locator(".keys label")).to_have_text([re.compile(f"^\\s*{label}$") for label in labels])
    form.get_by_label("Begin with").select_option(label="A taken account")
    expect(form.get_by_label("Name")).to_have_value(TAKEOVER)
    first, second = (form.get_by_role("group", name=f"Condition {number}", exact=True) for number in (1, 2))
    fields = first.get_by_label("Field")
    expect(fields).to_have_value("profilePart")
    offered = fields.locator("option").all_inner_texts()
    assert set(offered) == {*labels, "happened", "came in"}
    expect(first.get_by_label("Value")).to_have_value("PASSWORD")
    expect(second.get_by_label("Value")).to_have_value("PAYMENT")
    expect(second.get_by_label("beneficiary", exact=True)).to_be_checked()
    words = form.locator(".rule-words")
    expect(words).to_contain_text("only where part of the profile = PASSWORD")
    expect(words).to_contain_text(
        "per account and beneficiary within 30 days, the activity itself left out = 0"
    )
    form.get_by_label("Name").fill(NAME)
    looked_at(window, "kinds-form")
    form.get_by_role("button", name="Publish").click()
    expect(form).to_be_hidden()
    rule = page.get_by_role("listitem").filter(has_text=NAME)
    expect(rule.get_by_text("✓ applied v1")).to_be_visible(timeout=WAIT_MS)


def trip_it(page: Page, operator: Window) -> None:
    """The traffic and its frauds are the type's too: of three activities the last one trips the rule."""
    page.get_by_role("link", name="Live", exact=True).click()
    operator.go("/live")
    operator.page.get_by_role("button", name="Play: A taken account").click()
    said = re.compile(r"3 activities in \d+ s, account a\d+, beneficiary b\d+, device d\d+")
    expect(operator.page.get_by_text(said)).to_be_visible()
    sampled = page.get_by_role("region", name="Sampled activities")
    expect(sampled.get_by_role("cell", name="PROFILE_CHANGE").first).to_be_visible()
    newest = page.get_by_role("region", name="Newest alerts")
    newest.get_by_role("link").filter(has_text=NAME).first.click(timeout=WAIT_MS)


def look_at_the_alert(window: Window) -> None:
    """What the payment has not is a dash, and the change that came before it is told."""
    page = window.page
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    shown = page.locator(".detail section", has=page.get_by_role("heading", name="The activity"))
    kind, result = (shown.locator(f"dt:text-is('{name}') + dd") for name in ("kind", "result of the log-in"))
    expect(kind).to_have_text("PAYMENT")
    expect(result).to_have_text("–")
    expect(page.get_by_text("2 of 2 conditions held")).to_be_visible()
    listed = page.locator(".judged-condition")
    expect(listed.nth(0).get_by_text("1 activity counted")).to_be_visible()
    expect(listed.nth(1).get_by_text("No activity in the window counts.")).to_be_visible()
    looked_at(window, "kinds-alert")


def look_at_the_case(window: Window) -> None:
    """It is about the account, and draws whom that paid, or from where."""
    page = window.page
    account = page.locator(".alert-head .tag b").first.inner_text()
    page.get_by_role("link", name=re.compile(r"^case \d+$")).click()
    expect(page.get_by_role("heading", name=f"account {account}")).to_be_visible()
    alerts = page.get_by_role("list", name="Alerts of this case, newest first")
    expect(alerts.get_by_role("link").filter(has_text=NAME).first).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^From account to "))).to_be_visible()
    looked_at(window, "kinds-case")
