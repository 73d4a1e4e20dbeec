"""The API's documentation in a browser: every operation, called with a key, and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.support.pictures import picture
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(200)]


@pytest.fixture
def troubles() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, troubles: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    yield opened
    context.close()


@pytest.mark.parametrize("service", ["rulesRegistry", "alertApi", "generator"])
def test_every_operation_is_there_and_no_policy_is_broken(
    page: Page, stack: RunningStack, troubles: list[str], service: str
) -> None:
    url = stack.file[service]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{url}/docs")
    operations = page.locator(".opblock")
    expect(operations.first).to_be_visible()
    document = httpx.get(f"{url}/openapi.json", verify=False).json()
    expect(operations).to_have_count(
        sum(len(item.keys() - {"parameters"}) for item in document["paths"].values())
    )
    picture(page, f"docs-{service}")
    assert troubles == []
    assert {address.split("/", 3)[2] for address in asked} == {url.split("/")[2]}


def test_an_operation_is_called_with_a_key(page: Page, stack: RunningStack, troubles: list[str]) -> None:
    """Of the smallest of the three documents: the page takes a while for each operation."""
    page.goto(f"{stack.file['generator']}/docs#/traffic/getTraffic")
    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_label("bearer-value").fill(stack.file["apiKeys"]["viewer"])
    page.get_by_role("button", name="Apply credentials").click()
    page.get_by_role("button", name="Close").click()
    block = page.locator("#operations-traffic-getTraffic")
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    expect(block.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("200")
    assert troubles == []
