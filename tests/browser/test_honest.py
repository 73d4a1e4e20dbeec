"""The console says plainly what is away, behind or not connected, and what a key may not do."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Route, expect

from alert_api.domain.health.part_health import PARTS
from tests.browser.conftest import OpenWindow
from tests.browser.traffic import Tripped
from tests.browser.windows import answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

AWAY = {
    "type": "urn:tripline:problem:upstream-unavailable",
    "status": 503,
    "detail": "It does not answer now.",
}
ABSENT = {"type": "urn:tripline:problem:not-connected", "status": 404, "detail": "It is not connected."}


def engine(*, ready: bool = True, batches: float = 1, lag: float = 0) -> dict[str, Any]:
    def sample(value: float) -> list[dict[str, Any]]:
        return [{"labels": {}, "value": value}]

    return {"ready": ready, "samples": {"batch_seconds_count": sample(batches), "lag_records": sample(lag)}}


def test_an_engine_that_keeps_up_is_said_to(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    window.go("/live")
    expect(window.page.locator("#engine-chip")).to_have_text("Engine keeps up")
    expect(window.page.locator("#notice")).to_be_hidden()
    window.is_clean()


def test_an_engine_that_is_away_is_said_so_on_every_page_and_back_again(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    answers(window, "**/console/engine", AWAY)
    notice = window.page.locator("#notice")
    for path in ("/live", "/rules", "/alerts", "/controls"):
        window.go(path)
        expect(notice).to_contain_text("The engine is away since")
    window.page.unroute("**/console/engine")
    expect(notice).to_be_hidden()
    window.is_clean("answered 503")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (engine(ready=False), "The engine is starting."),
        (
            engine(lag=1e9),
            re.compile(r"The engine is at least \d+ s behind the payments \(1,000,000,000 waiting\)"),
        ),
    ],
    ids=["starting", "behind"],
)
def test_an_engine_that_starts_or_lags_is_said_so(
    open_window: OpenWindow, state: dict[str, Any], text: str | re.Pattern[str]
) -> None:
    window = open_window("viewer")
    answers(window, "**/console/engine", state)
    window.go("/live")
    expect(window.page.locator("#notice")).to_contain_text(text)
    window.is_clean()


def test_an_engine_that_stands_still_while_payments_come_in_is_away(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    answers(window, "**/console/engine", engine(batches=7))
    written = 100

    def grow(route: Route) -> None:
        nonlocal written
        written += 50
        route.fulfill(
            status=200, content_type="application/json", body=json.dumps({"written": written, "items": []})
        )

    window.page.route("**/console/transactions", grow)
    window.go("/live")
    expect(window.page.locator("#notice")).to_contain_text(
        re.compile(r"The engine has judged nothing for \d+ s, though payments came in")
    )


def test_a_registry_that_is_away_leaves_the_alerts_working(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("analyst")
    answers(window, "**/console/registry/**", AWAY)
    window.go(f"/alerts?ruleId={tripped.rule['ruleId']}")
    expect(window.page.locator("#notice")).to_contain_text("The rules registry does not answer.")
    expect(window.page.get_by_text(tripped.rule["name"]).first).to_be_visible()
    window.go("/rules")
    expect(window.page.get_by_text("The rules cannot be read now")).to_be_visible()
    window.is_clean("answered 503")


def test_what_is_not_connected_is_not_called_away(open_window: OpenWindow) -> None:
    window = open_window("ops")
    for part in ("engine", "transactions", "generator/**"):
        answers(window, f"**/console/{part}", ABSENT)
    window.go("/live")
    expect(window.page.get_by_text("No traffic generator is connected here.")).to_be_visible()
    expect(window.page.get_by_text("Kafka is not connected to this console")).to_be_visible()
    expect(window.page.get_by_text("The engine's metrics are not connected")).to_be_visible()
    expect(window.page.locator("#notice")).to_be_hidden()


def test_health_says_of_every_part_how_it_is(open_window: OpenWindow) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/live")
    page.get_by_role("link", name="Health of all parts").click()
    window.shows("Live")
    parts = page.get_by_role("list", name="Parts of the line").get_by_role("listitem")
    expect(parts).to_have_count(len(PARTS))
    for name in ("Rules registry", "Archiver", "Prover", "Retention", "Postgres", "Kafka", "Topics"):
        expect(parts.filter(has_text=name).first).to_contain_text("fine")
    expect(parts.filter(has_text="Relay of rules")).to_contain_text(
        re.compile(r"rules up to position (\d+) of \1")
    )
    expect(page.get_by_text(re.compile(r"The engine has applied, by shard 0: \d+"))).to_be_visible()
    away = {"sentence": "The relay is gone.", "advice": "Start it.", "section": "A part of the line is away"}
    unseen: dict[str, Any] = {
        "level": "not_seen",
        "seenAt": None,
        "lag": None,
        "position": None,
        "shards": [],
    }
    items = [
        {**unseen, "part": "relay", "title": "Relay of rules", "level": "away", "trouble": away},
        {**unseen, "part": "guard", "title": "Guard of changed rules", "trouble": None},
    ]
    answers(window, "**/v1/health", {"lookedAt": 0, "published": None, "items": items})
    expect(parts).to_have_count(2)
    expect(parts.first).to_contain_text("The relay is gone.Start it. Runbook: A part of the line is away.")
    expect(parts.last).to_contain_text("not seen")
    expect(page.get_by_text("1 part of 2 needs a look. Of 1 part nothing is known.")).to_be_visible()
    window.is_clean()


def test_a_key_that_only_reads_is_not_shown_what_to_do(open_window: OpenWindow, tripped: Tripped) -> None:
    window = open_window("viewer")
    page = window.page
    window.go("/rules")
    row = page.get_by_role("listitem").filter(has_text=tripped.rule["name"])
    expect(row.get_by_role("link", name="Alerts")).to_be_visible()
    for name in ("Edit", "Pause", "Resume", "Purpose", "Delete"):
        expect(row.get_by_role("button", name=name)).to_have_count(0)
    expect(row.get_by_role("button", name="Trace")).to_be_enabled()
    expect(page.get_by_role("button", name="New rule")).to_be_hidden()
    # The newest and the oldest are acknowledged by other tests.
    window.go(f"/alerts/{tripped.alerts[1]['alertId']}")
    expect(page.get_by_role("button", name="Acknowledge")).to_be_hidden()
    window.go("/controls")
    expect(page.get_by_role("button", name="Forget history")).to_be_hidden()
    window.go("/live")
    expect(page.get_by_text("Your key may look at the traffic, but not change it.")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_hidden()
    window.is_clean()


@pytest.mark.parametrize("who", ["approver", "auditor"])
def test_a_key_that_may_not_see_the_traffic_is_told_so_and_does_not_ask(
    open_window: OpenWindow, who: str
) -> None:
    window = open_window(who)
    window.go("/live")
    expect(window.page.get_by_text("Your key may not look at the traffic.")).to_be_visible()
    expect(window.page.get_by_role("button", name="Start")).to_be_hidden()
    expect(window.page.locator("#engine-chip")).to_have_text("Engine keeps up")
    window.is_clean()


def test_a_window_whose_stream_another_one_took_asks_until_it_is_used_again(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    """A key has four streams. One that came back by itself would end another one, which would come back too."""
    window = open_window("viewer")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    with window.page.expect_response("**/v1/alerts/stream"):
        window.go("/alerts")
    with ExitStack() as others:
        client = others.enter_context(stack.alerts("viewer"))
        for _ in range(4):
            assert others.enter_context(client.stream("GET", "/v1/alerts/stream")).status_code == 200
        asked.clear()
        for _ in range(2):
            with window.page.expect_request(lambda request: urlsplit(request.url).path == "/v1/alerts"):
                pass
        assert "/v1/alerts/stream" not in asked
        with window.page.expect_response("**/v1/alerts/stream") as back:
            window.page.evaluate("dispatchEvent(new Event('focus'))")
        assert back.value.status == 200
    window.is_clean()
