"""Speeds between positions in the form of a rule: of a type of event that has positions, which none that ships has."""

from __future__ import annotations

from importlib import resources

import pytest
import yaml
from playwright.sync_api import expect

from alert_api.api.event_type import event_type_json
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from tests.browser.conftest import OpenWindow
from tests.browser.rules.test_conditions import new_rule
from tests.browser.support.pictures import picture
from tests.browser.windows import answers
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_templates import templates_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

DECLARED = (
    resources.files("tripline_contracts") / "rule_templates/catalogue/event-types/account-transfer.yaml"
)
TRANSFERS = event_type_loader.from_mapping(yaml.safe_load(DECLARED.read_text(encoding="utf-8")))
TEMPLATES = [template.to_json() for template in templates_of(TRANSFERS)]
TITLE = "Faster than anybody travels"


def test_the_form_writes_a_limit_of_speed(open_window: OpenWindow) -> None:
    """The console of a line of transfers, before the registry of one of payments: what it sends is read here."""
    (template,) = [one for one in TEMPLATES if one["title"] == TITLE]
    window = open_window("analyst", viewport={"width": 390, "height": 844})
    answers(window, "**/console/event-type", {**event_type_json(TRANSFERS), "templates": TEMPLATES})
    dialog = new_rule(window)
    dialog.get_by_label("Begin with").select_option(label=TITLE)
    aggregate, field = dialog.get_by_label("Aggregate"), dialog.get_by_label("of", exact=True)
    expect(aggregate).to_have_value("SPEED_KMH")
    expect(field.locator("option")).to_have_text(["position"])
    # an amount has no speed, and a position no sum
    aggregate.select_option(label="Sum")
    expect(field.locator("option")).to_have_text(["amount"])
    aggregate.select_option(label="Speed in km/h")
    expect(field).to_have_value("fromPosition")
    dialog.get_by_label("Limit").fill("950.5")
    words = "Speed in km/h from the last position per paying customer within 2 days > 950.5"
    expect(dialog.locator(".rule-words")).to_contain_text(words)
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    picture(window.page, "speed-form-390")
    with window.page.expect_request(
        lambda request: request.method == "POST" and "/registry/rule-checks" in request.url
    ) as sent:
        dialog.get_by_role("button", name="Publish").click()
    body = sent.value.post_data_json
    assert body is not None
    definition = read_rule_body(body, TRANSFERS).definition
    assert definition == read_rule_body({**template["definition"], "limit": "950.5"}, TRANSFERS).definition
    # payments have no positions
    expect(dialog.locator("[data-field=aggregateFieldName] .field-error")).to_be_visible()
    window.is_clean("answered 422")
