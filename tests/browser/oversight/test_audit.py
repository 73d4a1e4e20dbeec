"""The audit trail in the console: an auditor reads what was done to a rule, and takes the trail away to check it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from rules_registry.domain.audit.audit_entry import AuditEntry
from rules_registry.domain.audit.chain_check import ChainCheck
from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.traffic import definition, delete_rule
from tests.stack import RunningStack
from tripline_contracts.canonical import canonical_json

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def test_an_auditor_reads_and_takes_away_what_was_done(open_window: OpenWindow, stack: RunningStack) -> None:
    body = definition("Audit: many in a minute", limit=1_000_000)
    with stack.registry() as registry:
        rule = registry.post("/v1/rules", json=body).raise_for_status().json()
        path = f"/v1/rules/{rule['ruleId']}"
        changed = {**body, "limit": "2000000"}
        registry.put(path, json=changed, headers={"If-Match": "*"}, params={"reason": "too many alerts"})
    for scheme, width in (("light", 1280), ("dark", 390)):
        window = open_window("auditor", viewport={"width": width, "height": 844}, color_scheme=scheme)
        page = window.page
        window.go("/live")
        page.get_by_role("link", name="Audit", exact=True).click()
        entries = page.get_by_role("list", name="Audit trail").get_by_role("listitem")
        expect(entries.first).to_be_visible()
        page.get_by_label("Of what").select_option("rule")
        page.get_by_label("Its id or name").fill(str(rule["ruleId"]))
        page.get_by_role("button", name="Show", exact=True).click()
        expect(entries).to_have_count(2)
        newest = entries.first
        expect(newest.get_by_text("too many alerts")).to_be_visible()
        newest.get_by_text("What changed").click()
        expect(newest.get_by_role("row", name="limit 1,000,000 2,000,000")).to_be_visible()
        page.reload()
        expect(entries).to_have_count(2)
        fits(window, width)
        picture(page, f"audit-{width}-{scheme}", full_page=True)
        window.is_clean()
    page.goto(page.url.split("?")[0])
    with page.expect_download() as taken:
        page.get_by_role("button", name="Export").click()
    lines = [json.loads(line) for line in taken.value.path().read_text(encoding="utf-8").splitlines()]
    check = ChainCheck()
    entries_taken = [
        AuditEntry(line["entry"]["sequence"], canonical_json(line["entry"]).decode(), line["hash"])
        for line in lines
    ]
    assert list(check.problems(entries_taken)) == []
    assert check.head.sequence >= 2
    delete_rule(stack, rule["ruleId"])


def test_who_may_not_read_it_is_not_shown_the_way(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    window.go("/rules")
    expect(window.page.get_by_role("link", name="Rules")).to_be_visible()
    expect(window.page.get_by_role("link", name="Audit", exact=True)).to_be_hidden()
    window.go("/audit")
    expect(window.page.get_by_role("alert").filter(has_text="scope")).to_be_visible()
