"""One group of a party's rule is forgotten, by whoever may give commands."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.rules.test_operators import card
from tests.browser.traffic import definition, published_rule
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def test_a_group_of_a_party_is_cleared(open_window: OpenWindow, stack: RunningStack) -> None:
    by_account = definition("Operators: a rule by account", limit=1_000_000)
    with published_rule(stack, {**by_account, "groupingKeyNames": ["account"]}) as rule:
        window = open_window("ops")
        page = window.page
        window.go("/controls")
        group = card(page, "Have one rule forget one group")
        group.get_by_label("Rule").select_option(label=rule["name"])
        group.get_by_role("button", name="Forget this group").click()
        expect(group.get_by_text("Give the account.")).to_be_visible()
        group.get_by_label("Account").fill("25")
        group.get_by_role("button", name="Forget this group").click()
        dialog = page.get_by_role("dialog", name="Have one rule forget one group?")
        expect(dialog).to_contain_text("account 25")
        dialog.get_by_role("button", name="Forget this group").click()
        first = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
        expect(first).to_contain_text(f"{rule['name']}: account 25.")
        window.is_clean()
