"""A rule is traced from its line in the list, and its evaluations come in while one looks on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import LIMIT, SECONDS, definition, is_applied, published_rule
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]
NAME = "Trace: many payments by one payer"


@pytest.fixture
def rule(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A rule that judges."""
    with published_rule(stack, definition(NAME)) as made:
        eventually(lambda: is_applied(stack, made), "the rule is applied", SECONDS)
        yield made


def is_taken(stack: RunningStack, position: int) -> bool:
    """Whether every shard has gone past that position of the rules."""
    with stack.alerts() as alerts:
        reached = alerts.get("/console/engine").raise_for_status().json()["samples"]["rule_position"]
    return bool(reached) and all(sample["value"] >= position for sample in reached)


def test_a_rule_is_traced_and_what_it_comes_to_is_shown(
    open_window: OpenWindow, stack: RunningStack, rule: dict[str, Any]
) -> None:
    window = open_window("ops")
    page = window.page
    window.go("/rules")
    page.get_by_role("button", name=f"Trace: {NAME}").click()
    trace = page.get_by_role("dialog", name=f"Trace of “{NAME}”")
    expect(trace.get_by_role("status")).to_have_text("This rule is not traced now.")
    expect(trace.get_by_role("table")).to_be_hidden()
    trace.get_by_role("button", name="Trace for 5 minutes").click()
    question = page.get_by_role("dialog", name="Trace this rule?")
    expect(question).to_contain_text(NAME)
    question.get_by_role("button", name="Trace for 5 minutes").click()
    expect(question).to_be_hidden()
    expect(trace.get_by_role("status")).to_contain_text(re.compile(r"Traced until .*, by ops\. No payment"))

    with stack.registry() as registry:
        command = registry.get("/v1/control-commands?limit=1").json()["items"][0]
    assert (command["command"], command["ruleId"]) == ("TRACE_RULE", rule["ruleId"])
    eventually(lambda: is_taken(stack, command["position"]), "the engine has taken the command", SECONDS)
    with stack.generator() as generator:
        played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
    rows = trace.get_by_role("table", name="Evaluations").locator("tbody tr")
    of_payer = rows.filter(has_text=f"payer {played['payeeId']}")
    expect(of_payer).to_have_count(played["transactions"], timeout=SECONDS * 1000)
    # newest first: the last payment is far above the limit, the first is not
    expect(of_payer.first).to_contain_text(f"{played['transactions']}> {LIMIT}alert")
    expect(of_payer.last).to_contain_text(f"1> {LIMIT}does not hold")
    expect(trace.get_by_role("status")).to_have_text(re.compile(r"Traced until .*, by ops\.$"))

    page.keyboard.press("Escape")
    window.go("/controls")
    done = page.get_by_role("list", name="Commands so far").get_by_role("listitem").first
    expect(done).to_contain_text("Trace a rule, by ops")
    expect(done).to_contain_text(f"Rule {rule['ruleId']}, until")
    window.is_clean()


def test_who_may_not_command_may_look(open_window: OpenWindow, rule: dict[str, Any]) -> None:
    window = open_window("viewer")
    window.go("/rules")
    window.page.get_by_role("button", name=f"Trace: {rule['name']}").click()
    trace = window.page.get_by_role("dialog", name=re.compile("Trace of"))
    expect(trace.get_by_role("status")).to_have_text("This rule is not traced now.")
    expect(trace.get_by_role("button", name="Trace for 5 minutes")).to_be_hidden()
    expect(trace).to_contain_text("Your key may look, but not give commands.")
    window.is_clean()
