"""The arms of a rollout on the page of its rule: what is said of them, from answers that have it all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import looks_well
from tests.browser.traffic import definition
from tests.browser.windows import Window, answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NOON, HOUR, DAY = 1_777_636_800_000, 3_600_000, 86_400_000
UNDECIDED = {"confirmed_fraud": 0, "false_positive": 0, "known_accepted": 0, "inconclusive": 0}


def arm(alerts: int, groups: int, rate: float, **more: Any) -> dict[str, Any]:
    return {
        "groups": groups, "alerts": alerts, "alertsPerPercentDay": rate, "resolved": 0, "cases": UNDECIDED,
        "precision": None, **more,
    }  # fmt: skip


def compared(trial: dict[str, Any], active: dict[str, Any], ratio: dict[str, Any] | None) -> dict[str, Any]:
    hours = [{"hour": NOON + n * HOUR, "both": 12 + n, "onlyActive": n, "onlyShadow": 3} for n in range(4)]
    spans = [
        {"from": NOON, "to": NOON + DAY - 1, "percent": 5},
        {"from": NOON + DAY, "to": NOON + 2 * DAY, "percent": 20},
    ]
    return {
        "ruleId": 1, "version": 2, "from": NOON, "to": NOON + 2 * DAY, "both": 54, "onlyActive": 6,
        "onlyShadow": 12, "hours": hours, "newestOnlyActive": [{"transactionId": "t-1", "eventTime": NOON}],
        "newestOnlyShadow": [{"transactionId": "t-2", "eventTime": NOON}],
        "arms": {"spans": spans, "trial": trial, "active": active, "ratio": ratio},
    }  # fmt: skip


MORE_AND_RIGHT = compared(
    arm(
        1_204,
        310,
        12.84,
        resolved=64,
        cases={**UNDECIDED, "confirmed_fraud": 41, "false_positive": 9, "inconclusive": 14},
        precision={"value": 0.82, "low": 0.692, "high": 0.9023},
    ),
    arm(
        2_911,
        1_498,
        6.1,
        resolved=210,
        cases={**UNDECIDED, "confirmed_fraud": 62, "false_positive": 148},
        precision={"value": 0.2952, "low": 0.2377, "high": 0.3602},
    ),
    {"value": 2.1049, "low": 1.62, "high": 2.7351},
)
CASES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "more, and right": (
        MORE_AND_RIGHT,
        (
            "On trial: 5 % of groups since",
            "1,204, of 310 groups",
            "41 fraud, 9 false positive, 14 inconclusive",
            "82 % (69 % to 90 %, of 50 cases)",
            "Version 2 alerts more often: 2.1 for each alert that version 1 would have given (1.6 to 2.7).",
            "Version 2 is right more often.",
        ),
    ),
    "fewer": (
        compared(arm(3, 1, 0.2), arm(800, 300, 1.9), {"value": 0.105, "low": 0.01, "high": 0.62}),
        (
            "3, of 1 group",
            "Version 2 alerts less often: 0.11 for each alert that version 1 would have given (0.01 to 0.62).",
            "cannot be said before cases of both are decided",
        ),
    ),
    "nothing to tell": (
        compared(
            arm(2, 2, 1.0, precision={"value": 1.0, "low": 0.2065, "high": 1.0}),
            arm(2, 2, 1.0, precision={"value": 0.5, "low": 0.0945, "high": 0.9055}),
            {"value": 1.0, "low": 0.05, "high": None},
        ),
        (
            "Which of both alerts more often cannot be told yet: version 2 gives 1 for each alert",
            "(0.05 or more)",
            "the ranges of their precision overlap",
        ),
    ),
    "one arm is silent": (
        compared(arm(0, 0, 0.0), arm(4, 2, 0.5), None),
        ("0, of 0 groups", "cannot be said before both versions have alerts that count"),
    ),
}


def rolled_out(window: Window, stack: RunningStack, rule: dict[str, Any], answer: dict[str, Any]) -> None:
    """Opens the page of the rule as that of one whose shadow has 20 % of groups."""

    def with_percent(route: Route) -> None:
        came = route.fetch()
        body = came.json()
        body["shadow"]["percent"] = 20
        route.fulfill(response=came, body=json.dumps(body))

    path = f"/v1/rules/{rule['ruleId']}"
    with stack.registry("analyst") as registry:
        body = definition(rule["name"], limit=7)
        registry.post(f"{path}/shadow", json=body, headers={"If-Match": "*"}).raise_for_status()
    window.page.route(f"**/console/registry/rules/{rule['ruleId']}", with_percent)
    answers(window, f"**{path}/shadow?*", answer)
    window.go(f"/rules/{rule['ruleId']}")


@pytest.mark.parametrize("name", CASES)
def test_what_the_arms_say_is_said_in_words(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any], name: str
) -> None:
    answer, words = CASES[name]
    window = open_window("analyst")
    rolled_out(window, stack, rule, answer)
    section = window.page.locator(".rule-shadow")
    for text in ("It is rolled out to 20 % of groups", *words):
        expect(section).to_contain_text(text)
    if answer is MORE_AND_RIGHT:
        looks_well(window, "rule-rolled-out")
        window.page.set_viewport_size({"width": 390, "height": 844})
        for table in section.locator(".table").all():
            assert table.evaluate("table => table.scrollWidth <= table.clientWidth"), table.inner_text()
    window.is_clean()


def test_no_version_can_be_gone_back_to_beside_a_shadow(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    rolled_out(window, stack, rule, MORE_AND_RIGHT)
    page = window.page
    expect(page.get_by_role("list", name="Versions").locator("> li")).to_have_count(2)
    expect(page.get_by_role("button", name="Revert to")).to_have_count(0)


def test_the_share_is_asked_for_with_what_it_means(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("analyst")
    rolled_out(window, stack, rule, MORE_AND_RIGHT)
    page = window.page
    page.locator(".rule-shadow").get_by_role("button", name="Widen the rollout").click()
    form = page.get_by_role("dialog", name="Roll out the shadow of")
    share = form.get_by_label("Percent of groups")
    expect(share).to_have_value("40")
    for wrong in ("20", "100", "33.5", ""):
        share.fill(wrong)
        expect(form.get_by_role("button", name="Roll out")).to_be_disabled()
    share.fill("33")
    expect(form).to_contain_text("For about 33 of 100 groups the alerts of version 2 count")
    expect(form).to_contain_text("Fewer than now it cannot be")
    looks_well(window, "rollout-form")
    expect(form.get_by_role("button", name="Roll out to 33 %")).to_be_enabled()
    window.is_clean()
