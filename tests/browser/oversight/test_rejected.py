"""A record that the engine could not read is corrected in the console, and its alert comes; another is discarded."""

from __future__ import annotations

import json
import time

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.layout import fits
from tests.browser.support.pictures import picture
from tests.browser.traffic import alerts_of, definition, is_applied, published_rule
from tests.stack import RunningStack, eventually
from tripline_contracts.kafka.cluster import kafka_cluster

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

PAYEE = "repaired-25"
SECONDS = 90.0


def produce(stack: RunningStack, *values: bytes) -> None:
    cluster = kafka_cluster(stack.file["kafkaAdministrator"])
    producer = Producer({**cluster.client_config(), "enable.idempotence": False, "log_level": 3})
    for value in values:
        producer.produce("transactions.v1", value, partition=0)
    assert producer.flush(SECONDS) == 0


def places_of(stack: RunningStack, *details: str) -> list[str]:
    """The ids of the open records whose text holds these, in their order."""
    with stack.alerts("ops") as client:
        items = client.get("/v1/rejected-records", params={"state": "open", "limit": 100}).json()["items"]
        whole = [client.get(f"/v1/rejected-records/{item['id']}").json() for item in items]
    return [record["id"] for text in details for record in whole if text in (record["text"] or "")]


def item_of(page: Page, record_id: str) -> Locator:
    return page.locator(f'li[data-record="{record_id}"]')


def test_a_record_is_repaired_and_its_alert_comes(open_window: OpenWindow, stack: RunningStack) -> None:
    with published_rule(stack, definition("Repaired: any payment", limit=0)) as rule:
        eventually(lambda: is_applied(stack, rule), "the rule is applied", SECONDS)
        # made now: a rule judges nothing that happened before it
        good = json.dumps(
            {
                "transactionId": f"repaired-{time.time_ns()}",
                "eventTime": time.time_ns() // 1_000_000,
                "payeeId": PAYEE,
                "beneficiaryId": "12",
                "paymentAmount": "0.01",
                "paymentType": "CSH",
            }
        )
        broken, rubbish = good.removesuffix("}"), f"rubbish {time.time_ns()}"
        produce(stack, broken.encode(), rubbish.encode())
        eventually(lambda: len(places_of(stack, broken, rubbish)) == 2, "they are listed", SECONDS)
        first, second = places_of(stack, broken, rubbish)

        window = open_window("ops", viewport={"width": 1280, "height": 900})
        page = window.page
        window.go("/rejected?reason=unparseable&state=open")
        expect(page.get_by_role("list", name="How many, by reason")).to_contain_text("not readable")
        item = item_of(page, first)
        item.get_by_text("Look at it").click()
        expect(item.get_by_label("The record as it came")).to_have_text(broken)
        item.get_by_role("button", name="Send again").click()
        expect(item.get_by_text("Say why, in a few words.")).to_be_visible()
        item.get_by_label("Reason").fill("the brace at the end was lost")
        item.get_by_role("button", name="Send again").click()
        expect(item.get_by_text("not JSON", exact=False).last).to_be_visible()
        picture(page, "rejected-refused-1280-light", full_page=True)
        item.get_by_label("The record as it is to be sent").fill(good)
        item.get_by_role("button", name="Send again").click()
        expect(item.get_by_text("sent again", exact=True)).to_be_visible()
        eventually(lambda: len(alerts_of(stack, rule["ruleId"], PAYEE)) == 1, "its alert is there", SECONDS)
        item = item_of(page, second)
        item.get_by_text("Look at it").click()
        item.get_by_label("Reason").fill("nothing of ours")
        item.get_by_role("button", name="Discard").click()
        expect(item.get_by_text("discarded", exact=True)).to_be_visible()
        assert places_of(stack, broken, rubbish) == []
        assert set(window.troubles) <= {"answered 422"}
    for scheme, width in (("light", 1280), ("dark", 390)):
        looking = open_window("viewer", viewport={"width": width, "height": 844}, color_scheme=scheme)
        looking.go("/rejected?state=sent")
        item = item_of(looking.page, first)
        item.get_by_text("Look at it").click()
        expect(item.get_by_text(good, exact=True)).to_be_visible()
        expect(item.get_by_role("button", name="Send again")).to_have_count(0)
        fits(looking, width)
        picture(looking.page, f"rejected-{width}-{scheme}", full_page=True)
        looking.is_clean()
