"""Filters that compare with no constant: written in the form, and read back in words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.rule_work import edited, row_of, stored
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

IN_THE_FORM = {
    "all": [
        {"field": "payeeId", "startsWith": "DE"},
        {"field": "beneficiaryId", "isNull": True},
        {"field": "paymentAmount", "multipleOf": "100"},
    ]
}
WORDS = "only where payer starts with DE and beneficiary is missing and amount is a multiple of 100"
AS_JSON = {
    "all": [
        {"field": "payeeId", "operator": "!=", "otherField": "beneficiaryId"},
        {"localTime": {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00", "days": ["SAT", "SUN"]}},
    ]
}
WORDS_OF_JSON = (
    "only where payer \u2260 beneficiary and it is between 22:00 and 06:00 in Europe/Berlin, Sat, Sun"
)


def test_a_filter_of_tests(open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]) -> None:
    window = open_window("analyst")
    window.go("/rules")
    form, row = edited(window.page, rule), row_of(window.page, rule)
    for field, sign, value in [
        ("payeeId", "starts with", "DE"),
        ("beneficiaryId", "is missing", None),
        ("paymentAmount", "is a multiple of", "100"),
    ]:
        form.get_by_role("button", name="Add a condition").click()
        form.get_by_label("Field").last.select_option(field)
        form.get_by_label("Comparison").last.select_option(label=sign)
        if value is None:
            expect(form.get_by_label("Value").last).to_be_hidden()
        else:
            form.get_by_label("Value").last.fill(value)
    form.get_by_role("button", name="Publish the new version").click()
    expect(row.get_by_text(WORDS)).to_be_visible()
    assert stored(stack, rule["ruleId"])["definition"]["filter"] == IN_THE_FORM
    # The form shows it as it is.
    form = edited(window.page, rule)
    expect(form.get_by_label("Comparison").first).to_have_value("startsWith")
    expect(form.get_by_label("Value").first).to_have_value("DE")
    expect(form.get_by_label("Value").nth(1)).to_be_hidden()
    window.page.keyboard.press("Escape")
    with stack.registry() as registry:
        registry.put(
            f"/v1/rules/{rule['ruleId']}",
            json={**stored(stack, rule["ruleId"])["definition"], "name": rule["name"], "filter": AS_JSON},
            headers={"If-Match": "*"},
        ).raise_for_status()
    window.go("/rules")
    expect(row.get_by_text(WORDS_OF_JSON)).to_be_visible()
    # What the rows have no place for is shown as JSON.
    expect(edited(window.page, rule).get_by_label("Filter as JSON")).to_have_value(re.compile("otherField"))
    window.is_clean()
