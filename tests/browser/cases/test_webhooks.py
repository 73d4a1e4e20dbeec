"""Webhooks in the console: one is added, tested, paused, changed, replayed and removed; and how all states look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from alert_api.domain.webhooks.signature import signed_headers
from tests.browser.conftest import OpenWindow
from tests.browser.support.accessibility import serious_faults
from tests.browser.support.pictures import picture
from tests.browser.windows import Window, answers
from tests.integration.alert_api.support.webhook_receiver import Receiver, receiving
from tests.stack import RunningStack, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Browser desk"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(204, 500) as opened:
        yield opened


def test_a_webhook_from_its_form_to_its_removal(
    open_window: OpenWindow, stack: RunningStack, receiver: Receiver
) -> None:
    ops, viewer = (open_window(who) for who in ("ops", "viewer"))
    secret = add_it(ops, receiver)
    send_tests(ops, receiver, secret)
    viewer.go("/webhooks")
    viewer.shows("Cases")
    expect(item(viewer)).to_contain_text(f"http://127.0.0.1:{receiver.port}/\N{HORIZONTAL ELLIPSIS}")
    expect(item(viewer).get_by_role("button")).to_have_text(["Deliveries"])
    handle_it(ops)
    give_it_a_new_secret(ops, receiver, secret)
    change_it(ops)
    look_at_it(ops)
    remove_it(ops)
    for window in (ops, viewer):
        window.is_clean("answered 422")
    with stack.alerts() as alerts:
        steps = alerts.get("/v1/webhooks/history").raise_for_status().json()["items"]
    assert [step["type"] for step in steps[:2]] == ["WebhookRemoved", "WebhookChanged"]


def item(window: Window) -> Locator:
    return window.page.locator("#webhook-list > li").filter(has_text=NAME)


def press(window: Window, name: str) -> None:
    item(window).get_by_role("button", name=f"{name}: {NAME}").click()


def add_it(ops: Window, receiver: Receiver) -> str:
    page = ops.page
    ops.go("/cases")
    page.get_by_role("link", name="Webhooks").click()
    ops.shows("Cases")
    page.get_by_role("button", name="New webhook").click()
    dialog = page.get_by_role("dialog", name="New webhook")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("alert").filter(has_text="Give it a name.")).to_be_visible()
    dialog.get_by_label("Name").fill(NAME)
    dialog.get_by_label("Address").fill("https://evil.example/in")
    # so severe that nothing on this line is: the test alone arrives
    dialog.get_by_label("How severe").select_option("critical")
    dialog.get_by_label("Of rules").fill("999999")
    dialog.get_by_label("About").fill("payeeId")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("alert")).to_contain_text("A field and its value on each line")
    dialog.get_by_label("About").fill("payeeId:no:body\n\n")
    dialog.get_by_role("button", name="Add").click()
    at_the_address = dialog.locator(".field").filter(has=page.locator("#webhook-url"))
    expect(at_the_address.get_by_role("alert")).to_contain_text("TRIPLINE_WEBHOOK_HOSTS")
    dialog.get_by_label("Address").fill(f"http://127.0.0.1:{receiver.port}/in")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_text("It is shown now and never again.")).to_be_visible()
    secret = dialog.get_by_label("Secret").input_value()
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator("#key-secret")).to_have_count(0)
    told = "Cases about payer no:body, that are critical, of rule 999999, whatever becomes of them."
    expect(item(ops)).to_contain_text(told)
    expect(item(ops)).to_contain_text("It was told nothing yet.")
    return secret


def send_tests(ops: Window, receiver: Receiver, secret: str) -> None:
    press(ops, "Send a test")
    expect(ops.page.get_by_text(f"{NAME} took the test.")).to_be_visible()
    expect(item(ops)).to_contain_text("answered 204")
    ((_, headers, body),) = receiver.came
    signed = signed_headers(secret, headers["webhook-id"], int(headers["webhook-timestamp"]), body)
    assert signed.items() <= headers.items()
    assert json.loads(body)["data"]["name"] == NAME
    press(ops, "Send a test")
    expect(ops.page.get_by_text(f"{NAME} did not take the test: answered 500.")).to_be_visible()
    expect(item(ops)).to_contain_text("Test, ")
    expect(item(ops)).not_to_contain_text("dead letter")


def handle_it(ops: Window) -> None:
    press(ops, "Pause")
    expect(item(ops)).to_contain_text("What happens meanwhile waits.")
    expect(item(ops).get_by_role("button", name="Send a test")).to_have_count(0)
    press(ops, "Resume")
    expect(item(ops).locator(".tag").first).to_have_text("active")
    press(ops, "Replay")
    dialog = ops.page.get_by_role("dialog", name=f"Replay {NAME}")
    expect(dialog.get_by_role("status")).to_contain_text("UTC")
    dialog.get_by_label("It is told").select_option("end")
    dialog.get_by_role("button", name="Replay").click()
    expect(ops.page.get_by_text(f"{NAME} goes on from there.")).to_be_visible()


def give_it_a_new_secret(ops: Window, receiver: Receiver, former: str) -> None:
    press(ops, "New secret")
    dialog = ops.page.get_by_role("dialog", name=f"A new secret for {NAME}")
    expect(dialog.get_by_label("The one of before is good for")).to_have_value("86400")
    dialog.get_by_role("button", name="Make a new one").click()
    expect(dialog.get_by_text("It is shown now and never again.")).to_be_visible()
    secret = dialog.get_by_label("Secret").input_value()
    assert secret != former
    dialog.get_by_role("button", name="Done").click()
    expect(ops.page.locator("#key-secret")).to_have_count(0)
    expect(item(ops)).to_contain_text("Signs with its former secret too, until")
    receiver.came.clear()
    press(ops, "Send a test")
    expect(ops.page.get_by_text(f"{NAME} took the test.").first).to_be_visible()
    eventually(lambda: bool(receiver.came), "the test has come", 30)
    ((_, headers, body),) = receiver.came
    sent = headers["webhook-id"], int(headers["webhook-timestamp"]), body
    assert signed_headers(secret, *sent, former).items() <= headers.items()


def change_it(ops: Window) -> None:
    press(ops, "Change")
    dialog = ops.page.get_by_role("dialog", name=f"Change {NAME}")
    expect(dialog.get_by_label("Of rules")).to_have_value("999999")
    dialog.get_by_label("commented on").uncheck()
    dialog.get_by_role("button", name="Change").click()
    expect(item(ops)).to_contain_text("resolved or reopened")


def look_at_it(ops: Window) -> None:
    press(ops, "Deliveries")
    dialog = ops.page.get_by_role("dialog", name=NAME)
    expect(dialog.get_by_role("list", name="What it was told").locator("li")).to_have_count(3)
    dialog.get_by_label("Deliveries", exact=True).select_option("delivered")
    expect(dialog.get_by_role("list", name="What it was told")).to_contain_text("answered 204")
    expect(dialog.get_by_role("list", name="What people did").locator("li")).to_have_count(9)
    expect(dialog.get_by_role("list", name="What people did")).to_contain_text("left out what waited")
    dialog.get_by_role("button", name="Close").click()


def remove_it(ops: Window) -> None:
    press(ops, "Remove")
    ops.page.get_by_role("dialog", name=f"Remove {NAME}").get_by_role("button", name="Remove").click()
    expect(item(ops)).to_have_count(0)


DELIVERY: dict[str, Any] = {
    "eventId": "case-31-40", "type": "CaseResolved", "position": 40, "state": "delivered", "attempts": 1, "status": 204,
    "error": None, "changedAt": 1_763_690_000_000,
}  # fmt: skip
WEBHOOK: dict[str, Any] = {
    "webhookId": 1, "name": "Fraud desk", "url": "https://hooks.slack.com/services/T0123456/B0123456/" + "x" * 24,
    "template": "slack", "eventTypes": ["CaseOpened", "CaseReopened"], "minSeverity": "high", "ruleIds": [],
    "subjects": [], "formerSecretUntil": None,
    "state": "active", "version": 2, "contentHash": "a" * 64, "requestedBy": "ada", "requestedAt": 1_763_690_000_000,
    "approvedBy": "bob", "approvedAt": 1_763_690_500_000, "pausedBy": None, "pausedAt": None, "position": 40,
    "deadCount": 0, "lastDelivery": DELIVERY,
}  # fmt: skip
EVERY_TYPE = [
    "CaseOpened",
    "CaseEpisodeJoined",
    "CaseAcknowledged",
    "CaseAssigned",
    "CaseResolved",
    "CaseReopened",
]
LISTED = [
    WEBHOOK,
    {
        **WEBHOOK, "webhookId": 2, "name": "Ticket system", "url": "https://tickets.example/tripline",
        "template": "cloudevents", "minSeverity": None, "eventTypes": [*EVERY_TYPE, "CaseCommented"], "deadCount": 3,
        "lastDelivery": {**DELIVERY, "state": "retrying", "attempts": 4, "status": 503},
    },
    {
        **WEBHOOK, "webhookId": 3, "name": "Data lake", "url": "https://lake.example/cases", "template": "cloudevents",
        "state": "requested", "version": 1, "approvedBy": None, "approvedAt": None, "ruleIds": [3, 7, 12],
        "subjects": ["payeeId:25", "payeeId:4711", "beneficiaryId:DE02120300000000202051", "payeeId:9", "payeeId:10"],
        "lastDelivery": None,
    },
    {
        **WEBHOOK, "webhookId": 4, "name": "Night shift", "state": "paused", "pausedBy": "ada",
        "pausedAt": 1_763_691_000_000, "deadCount": 1000, "formerSecretUntil": 4_102_444_800_000,
        "lastDelivery": {**DELIVERY, "state": "dead", "attempts": 10, "status": None, "error": "timed out"},
    },
]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_all_states_fit_and_an_approver_approves_what_is_shown(
    open_window: OpenWindow, width: int, scheme: str
) -> None:
    window = open_window("approver", viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = window.page
    answers(window, "**/v1/webhooks", {"items": LISTED})
    answers(window, "**/v1/webhooks/4/deliveries*", {"items": [LISTED[3]["lastDelivery"]]})
    answers(window, "**/v1/webhooks/history*", {"items": []})
    window.go("/webhooks")
    expect(page.locator("#webhook-list > li")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture(page, f"webhooks-listed-{width}-{scheme}", full_page=True)
    assert serious_faults(window) == []
    expect(page.get_by_role("button", name="Approve")).to_have_count(1)
    page.get_by_role("button", name="Approve: Data lake").click()
    asked: list[Any] = []

    def ask(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.abort()

    page.route("**/v1/webhooks/3/approve", ask)
    dialog = page.get_by_role("dialog", name="Approve Data lake?")
    expect(dialog).to_contain_text("https://lake.example/cases")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    assert asked == [{"contentHash": "a" * 64}]
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Deliveries: Night shift").click()
    dialog = page.get_by_role("dialog", name="Night shift")
    expect(dialog.get_by_label("Deliveries", exact=True)).to_have_value("dead")
    expect(dialog).to_contain_text("timed out, tried 10 times")
    picture(page, f"webhook-deliveries-{width}-{scheme}")


def test_where_no_host_is_allowed_the_page_says_so(open_window: OpenWindow) -> None:
    window = open_window("ops")
    detail = "There are no webhooks here: TRIPLINE_WEBHOOK_HOSTS names no host that they may go to."
    off = {"status": 404, "type": "urn:tripline:problem:not-connected", "detail": detail}
    answers(window, "**/v1/webhooks", off)
    window.go("/webhooks")
    expect(window.page.get_by_text(detail)).to_be_visible()
    expect(window.page.get_by_role("button", name="New webhook")).to_be_hidden()
