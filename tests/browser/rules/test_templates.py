"""Rules to begin with: each is chosen in the form of a rule, which has a place for all of it and says it in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.domain.history_quota import HistoryQuota, needed_seconds
from tests.browser.conftest import OpenWindow
from tests.browser.rules.test_conditions import new_rule
from tests.browser.support.pictures import picture
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rule_templates import RuleTemplate, templates_of
from tripline_demo.stack.plan import QUOTAS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

TEMPLATES = templates_of(TRANSACTION)
KEPT = HistoryQuota(most=100_000_000, rate=int(QUOTAS["TRIPLINE_EXPECTED_RATE"]))


def is_too_long(template: RuleTemplate) -> bool:
    """Whether a demo keeps too little history for it."""
    definition = read_rule_body(template.definition, TRANSACTION).definition
    return needed_seconds(definition) > KEPT.kept_seconds(definition)


TOO_LONG = {template.title for template in TEMPLATES if is_too_long(template)}
BESIDE = {"precision", "firing", "lateEvents", "resetOnAlert", "cooldownSeconds"}
"""What other parts of the form have."""
# Chooses each and turns it to JSON, which is what the form read back.
CHOOSE_EACH = """dialog => {
  const turn = (id, value) => {
    const node = dialog.querySelector(id);
    node.value = value;
    node.dispatchEvent(new Event("change", { bubbles: true }));
    return node.value;
  };
  return [...dialog.querySelectorAll("#rule-template option")].slice(1).map((option) => {
    turn("#rule-template", option.value);
    const shape = dialog.querySelector("#rule-shape").value;
    const words = dialog.querySelector(".rule-words").textContent;
    const wide = dialog.scrollWidth - dialog.clientWidth;
    turn("#rule-shape", "text");
    const body = dialog.querySelector("#rule-json").value;
    return { title: option.textContent, listed: option.parentElement.label, shape, words, wide, body };
  });
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_form_has_a_place_for_each(open_window: OpenWindow, width: int) -> None:
    window = open_window("analyst", viewport={"width": width, "height": 844})
    dialog = new_rule(window)
    # of 15 payments a second a demo keeps those of 77 days
    short = dialog.locator("#rule-template option", has_text="are kept)")
    expect(short).to_have_count(len(TOO_LONG))
    assert {option.partition(" (needs ")[0] for option in short.all_text_contents()} == TOO_LONG
    offered: list[dict[str, Any]] = dialog.evaluate(CHOOSE_EACH)
    assert [one["title"].partition(" (needs ")[0] for one in offered] == [one.title for one in TEMPLATES]
    for one, template in zip(offered, TEMPLATES, strict=True):
        assert one["shape"] in ("one", "several"), one
        assert one["words"], one
        assert one["wide"] <= 0, one
        assert one["listed"] == ("From a published catalogue" if template.catalogue else "Often written")
        assert hash_of(template, json.loads(one["body"])) == hash_of(template, {}), one
    begin = dialog.get_by_label("Begin with")
    begin.select_option("More than ever before (needs 400 days, 77 days are kept)")
    expect(dialog.locator(".templates .hint")).to_contain_text("have TRIPLINE_MAX_HISTORY raised")
    begin.select_option("Goes out less a share")
    expect(dialog.get_by_text("less the commission of whoever lends it")).to_be_visible()
    expect(dialog.locator(".rule-words")).to_contain_text("only where its side is payer")
    picture(window.page, f"template-by-sides-{width}", full_page=True)
    begin.select_option("")
    expect(dialog.locator(".templates .hint")).to_have_text("")
    window.is_clean()


def hash_of(template: RuleTemplate, form: dict[str, Any]) -> str:
    """Of the template with this part of it as the form read it."""
    kept = {
        name: value
        for name, value in template.definition.items()
        if name != "name" and (not form or name in BESIDE)
    }
    return rule_definition.parse({**kept, **form}, TRANSACTION).hash
