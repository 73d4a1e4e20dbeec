"""Rules on their page: the row of one, its form, and what the registry has of it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page

from tests.stack import RunningStack


def stored(stack: RunningStack, rule_id: int) -> dict[str, Any]:
    """The rule as the registry has it."""
    with stack.registry() as registry:
        rule: dict[str, Any] = registry.get(f"/v1/rules/{rule_id}").raise_for_status().json()
    return rule


def row_of(page: Page, rule: dict[str, Any]) -> Locator:
    """Its row in the list of rules."""
    return page.get_by_role("listitem").filter(has_text=rule["name"])


def change_form(page: Page) -> Locator:
    """The dialog in which a rule is changed."""
    return page.get_by_role("dialog", name=re.compile("Change"))


def edited(page: Page, rule: dict[str, Any]) -> Locator:
    """The form of the rule, opened from its row."""
    row_of(page, rule).get_by_role("button", name="Edit").click()
    return change_form(page)
