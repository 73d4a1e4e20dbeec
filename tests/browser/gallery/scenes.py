"""Every page that people see, with the text by which it is known to be there, and what is pressed first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page, expect

from tests.browser.gallery.contents import Contents

Act = Callable[[Page], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """What somebody sees at an address of the console after having pressed something."""

    name: str
    who: str | None
    path: str
    text: str
    act: Act | None = None
    console: str | None = None
    """Another one than the line's."""


def press(*names: str) -> Act:
    """The first visible button of each name, one after the other."""

    def act(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name).locator("visible=true").first.click()

    return act


def unfold(*texts: str) -> Act:
    """What stands folded under each of these texts."""

    def act(page: Page) -> None:
        for text in texts:
            page.get_by_text(text).locator("visible=true").first.click()

    return act


def ask_why(transaction_id: str) -> Act:
    def act(page: Page) -> None:
        page.get_by_text("Why did it not fire?").click()
        page.get_by_label("Id of the payment").fill(transaction_id)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_role("cell", name="It alerted").first).to_be_visible()

    return act


def prove(page: Page) -> None:
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#proof-explained .sentence")).to_contain_text("Rule")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator("#proof-mark")).to_contain_text("Proven")
    expect(page.locator("#proof-state")).to_have_text("")


def compared_by_now(page: Page) -> None:
    """The shadow beside its rule: that is asked for apart."""
    expect(page.locator(".rule-shadow")).not_to_contain_text("Asking")


def told_by_now(page: Page) -> None:
    """What each change changes: that is asked for apart."""
    expect(page.get_by_text("Loading\u2026").locator("visible=true")).to_have_count(0)


def refused(page: Page) -> None:
    """A key that nobody has."""
    page.get_by_label("API key").fill("no-such-key")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#key-error")).not_to_be_empty()


EMPTY: Final = (
    Scene("sign-in", None, "/", "Sign in to Tripline"),
    Scene("sign-in-refused", None, "/", "Sign in to Tripline", refused),
    Scene("cases-none", "analyst", "/cases?subject=payeeId:nobody", "No case fits these filters."),
    Scene("alerts-none", "analyst", "/alerts?group=payeeId:nobody", "No alert fits these filters."),
    Scene("case-unknown", "analyst", "/cases/123456789", "There is no such case."),
    Scene("rule-unknown", "analyst", "/rules/2147483647", "There is no rule"),
    Scene("rejected-none", "ops", "/rejected?state=discarded", "Rejected"),
    Scene("cases-viewer", "viewer", "/cases?state=all", "alerts in"),
)
"""Where there is nothing, or nothing that may be done."""


def pages(made: Contents, four_eyes: str) -> tuple[Scene, ...]:
    """With what the line holds on them; `four_eyes` is the address of a console where changes need approval."""
    rules, alerts = made.rules, made.alerts
    compared, tried_out = f"/rules/{rules['bucketed']}?from=1&to=3", f"/rules/{rules['rolled out']}"
    tried = "/rules/backtests?backtest="
    worth = unfold("What the rules are worth")
    return (
        Scene("live", "ops", "/live", "Newest alerts"),
        Scene("health", "ops", "/health", "Alert projector"),
        Scene("cases", "analyst", "/cases?state=all", "alerts in"),
        Scene("case", "analyst", f"/cases/{made.case_id}", "Time line", unfold("As a table")),
        Scene("snoozes", "analyst", "/cases/snoozes", "The terminals are being tested."),
        Scene("webhooks", "ops", "/webhooks", "Night shift"),
        Scene("rules", "analyst", "/rules", "✓ applied"),
        Scene("rules-worth", "analyst", "/rules", "✓ applied", worth),
        Scene("rule-shadow", "analyst", f"/rules/{rules['many']}", "runs beside version", compared_by_now),
        Scene("rule-rollout", "analyst", tried_out, "What counted in each arm"),
        Scene("rule-rollout-waits", "approver", tried_out, "80 % of groups", compared_by_now, four_eyes),
        Scene("rule-several", "analyst", f"/rules/{rules['several']}", "All its alerts"),
        Scene("rule-paused", "analyst", f"/rules/{rules['relative']}", "paused by"),
        Scene("rule-compared", "analyst", compared, "too many alerts"),
        Scene("backtests", "analyst", "/rules/backtests", "Which alerts a rule would have given"),
        Scene("backtest", "analyst", f"{tried}{made.backtests[0]}", "Groups with the most"),
        Scene("backtest-limits", "analyst", f"{tried}{made.backtests[1]}", "Groups with the most"),
        Scene("lists", "analyst", "/lists", "watched-types"),
        Scene("alerts", "analyst", "/alerts", "Why did it not fire?"),
        Scene(
            "alerts-filtered", "analyst", f"/alerts?ruleId={rules['several']}&state=open", "of 2 conditions"
        ),
        Scene("alerts-why-not", "analyst", "/alerts", "Why did it not fire?", ask_why(made.transaction_id)),
        Scene("alert", "analyst", f"/alerts/{alerts['many']}", "What counted", prove),
        Scene("alert-several", "analyst", f"/alerts/{alerts['several']}", "of 2 conditions", prove),
        Scene("alert-weighed", "analyst", f"/alerts/{alerts['weighed']}", "condition 1"),
        Scene("alert-bucketed", "analyst", f"/alerts/{alerts['bucketed']}", "bucketed"),
        Scene("changes-none", "analyst", "/changes", "Changes"),
        Scene("changes-own", "analyst", "/changes", "waits for approval", told_by_now, console=four_eyes),
        Scene("changes-approve", "approver", "/changes", "Alerts a day", told_by_now, console=four_eyes),
        Scene("controls", "ops", "/controls", "CLEAR_STATE_ALL"),
        Scene("rejected", "ops", "/rejected?state=open", "What became of it"),
        Scene("rejected-repair", "ops", "/rejected?state=open", "Look at it", unfold("Look at it")),
        Scene("audit", "auditor", "/audit", "Of what"),
        Scene("audit-changed", "auditor", "/audit?kind=rule", "What changed", unfold("What changed")),
        Scene("keys", "admin", "/keys", "night-shift"),
    )
