"""Warnings in the console: shown before a rule is published, once, and beside a change that waits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.traffic import definition, delete_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Warnings: every one"


def counting(window: Window, name: str, limit: str) -> Locator:
    """The form of a new rule that counts, filled so far."""
    window.go("/rules")
    window.page.get_by_role("button", name="New rule").click()
    dialog = window.page.get_by_role("dialog", name="New rule")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Aggregate").select_option("COUNT")
    dialog.get_by_label("Limit").fill(limit)
    return dialog


def test_what_is_likely_wrong_is_said_once_before_it_is_published(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    window = open_window("analyst")
    page, dialog = window.page, counting(window, NAME, "1.5")
    dialog.get_by_label("is", exact=True).select_option("=")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    warnings = dialog.get_by_role("list", name="Likely wrong")
    expect(warnings.get_by_text("never holds", exact=False)).to_be_visible()
    expect(dialog.get_by_role("button", name="Publish all the same")).to_be_enabled()
    picture(page, "warnings")
    fits(window, 1280)
    # whoever changes it is told anew
    dialog.get_by_label("is", exact=True).select_option("!=")
    expect(warnings).to_be_hidden()
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(warnings.get_by_text("always holds", exact=False)).to_be_visible()
    dialog.get_by_label("is", exact=True).select_option("=")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    try:
        dialog.get_by_role("button", name="Publish all the same").click()
        expect(dialog).to_be_hidden()
        expect(page.get_by_role("listitem").filter(has_text=NAME)).to_be_visible()
        window.is_clean()
    finally:
        with stack.registry() as registry:
            for item in registry.get("/v1/rules", params={"name": NAME}).json()["items"]:
                delete_rule(stack, item["ruleId"])


def test_a_taken_name_is_said_at_the_name(open_window: OpenWindow, stack: RunningStack) -> None:
    with stack.registry() as registry:
        rule = registry.post("/v1/rules", json=definition(NAME, limit=1_000_000)).raise_for_status().json()
    try:
        publish_another(open_window, NAME.upper())
    finally:
        delete_rule(stack, rule["ruleId"])


def publish_another(open_window: OpenWindow, taken: str) -> None:
    window = open_window("analyst")
    dialog = counting(window, taken, "999999")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_text("is called", exact=False)).to_be_visible()
    dialog.get_by_role("button", name="Publish all the same").click()
    expect(dialog.get_by_text("Choose another name.", exact=False)).to_be_visible()
    expect(dialog).to_be_visible()
