"""Why a rule did not fire: each reason in words, on one page, from an answer that has them all."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import looks_well
from tests.browser.windows import answers

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

WORDS = {
    "alerted": "It alerted",
    "limit": "The limit was not reached",
    "cooldown": "It held; the group was silent after an alert",
    "held_before": "It held, and had held before; it alerts at crossings",
    "late": "It came late, and the rule leaves late ones out",
    "filtered": "The rule’s filter leaves it out",
    "null_field": "A field that the rule groups by is empty",
    "duplicate": "Its id had been seen",
    "backfilled": "It was backfilled, and triggers nothing",
    "paused": "The rule was paused",
    "not_in_force": "No version was in force at its time",
    "rejected": "It was rejected",
    "snoozed": "It alerted, and the alert is snoozed",
}
EVALUATED = ("alerted", "limit", "cooldown", "held_before", "snoozed")
TAGS = {"limit": " window not full", "cooldown": " on trial, in place of v3"}
ALERTED = ("alerted", "snoozed")


def rule(number: int, reason: str) -> dict[str, Any]:
    measured = {"value": "4812.5", "operator": ">", "limit": "5000", "count": 3}
    return {
        "ruleId": number, "version": 1, "name": f"Made up: {reason}", "reason": reason, "side": None,
        "group": {"payeeId": None if reason == "null_field" else "25"}, "late": reason == "late",
        **(measured if reason in EVALUATED else dict.fromkeys(measured)),
        "warm": reason != "limit" if reason in EVALUATED else None, "conditions": None, "weighted": None,
        "alertId": "00000000-0000-4000-8000-000000000001" if reason in ALERTED else None,
        "onTrial": {"percent": 20, "bucket": 7, "activeVersion": 3} if reason == "cooldown" else None,
        "snoozeId": 7 if reason == "snoozed" else None,
    }  # fmt: skip


def test_each_reason_is_told_in_words(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    detail = "event time 2026-05-01T10:00:00Z is more than 600 s older than its record time"
    judgement = {
        "transactionId": "t-1", "eventTime": 1_777_600_000_000, "voidedAt": 9,
        "rejected": {"reason": "too_late", "detail": detail},
        "rules": [rule(number, reason) for number, reason in enumerate(WORDS, 1)],
    }  # fmt: skip
    answers(window, "**/v1/transactions/t-1/judgement", judgement)
    page = window.page
    window.go("/alerts")
    page.get_by_text("Why did it not fire?").click()
    page.get_by_label("Id of the payment").fill("t-1")
    page.get_by_role("button", name="Ask", exact=True).click()
    for reason, words in WORDS.items():
        cells = page.get_by_role("row").filter(has_text=f"Made up: {reason} ").get_by_role("cell")
        expect(cells.nth(1)).to_have_text(f"{words}{TAGS.get(reason, '')}")
    state = page.locator("#why-not-state")
    expect(state).to_contain_text(detail)
    expect(state).to_contain_text("It was voided since.")
    looks_well(window, "why-not")
    window.is_clean()
