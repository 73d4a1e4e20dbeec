"""A thousand alerts a second on the stream, made up in the page: it goes on answering, and draws what it draws."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.traffic import Tripped

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

EXAMPLE = resources.files("tripline_contracts").joinpath("examples", "alerts.v1", "count-distinct.json")
MINUTE = 60_000
# In place of the alert stream: a minute's worth as fast as the page takes it, then a thousand a second. Frames are
# counted by the page itself: one that is not drawn is not counted.
FLOOD = """
window.flood = { sent: 0, frames: 0 };
const frame = () => { flood.frames += 1; requestAnimationFrame(frame); };
requestAnimationFrame(frame);
const fetched = window.fetch;
window.fetch = (input, options) => {
    if (!String(input).endsWith("/v1/alerts/stream")) return fetched(input, options);
    const encoder = new TextEncoder();
    const events = (count) => Array.from({ length: count }, () => {
        const now = Date.now();
        const alert = { ...ALERT, alertId: `00000000-0000-4000-8000-${String(flood.sent).padStart(12, "0")}`,
            eventTime: now, ingestedAt: now - 40, detectedAt: now };
        flood.sent += 1;
        return `event: AlertRaised\\nid: ${flood.sent}\\ndata: ${JSON.stringify(alert)}\\n\\n`;
    }).join("");
    const stream = new ReadableStream({
        async start(controller) {
            while (flood.sent < MINUTE) {
                controller.enqueue(encoder.encode(events(500)));
                await new Promise((resume) => setTimeout(resume));
            }
            const from = Date.now() - flood.sent;
            setInterval(() => {
                const due = Math.floor(Date.now() - from - flood.sent);
                if (due > 0) controller.enqueue(encoder.encode(events(due)));
            }, 20);
        },
    });
    return Promise.resolve(new Response(stream, { headers: { "Content-Type": "text/event-stream" } }));
};
"""


def draws_under_it(page: Page) -> None:
    """Waits until the page has drawn some more frames, and as many alerts as two seconds bring have come meanwhile.

    How many frames a second it draws is the machine's affair. A page that takes longer with each alert that it has
    seen, of sixty thousand, draws none.
    """
    before: dict[str, int] = page.evaluate("() => ({...flood})")
    page.wait_for_function(
        "before => flood.frames >= before.frames + 20 && flood.sent >= before.sent + 2000", arg=before
    )


def test_the_page_answers_while_a_thousand_alerts_a_second_come(
    open_window: OpenWindow, tripped: Tripped
) -> None:
    unseen: dict[str, Any] = {"state": "open", "acknowledgedBy": None, "acknowledgedAt": None, "voided": []}
    rule = {"ruleId": tripped.rule["ruleId"], "ruleName": tripped.rule["name"]}
    alert = {**json.loads(EXAMPLE.read_text("utf-8")), **unseen, **rule}
    window = open_window("viewer", reduced_motion="no-preference")
    page = window.page
    page.add_init_script(FLOOD.replace("ALERT,", f"{json.dumps(alert)},").replace("MINUTE", str(MINUTE)))
    window.go("/live")
    page.wait_for_function("() => flood.sent >= 60000")
    lamp = page.locator(".lamp").filter(has_text=tripped.rule["name"])
    expect(lamp).to_have_attribute("data-lit", "true")
    expect(page.get_by_role("list", name="Newest alerts").locator("li")).to_have_count(9)
    draws_under_it(page)
    for view in ("Alerts", "Rules", "Cases", "Live"):
        page.get_by_role("navigation", name="Views").get_by_role("link", name=view, exact=True).click()
        window.shows(view)
    window.go("/alerts")
    expect(page.locator("#alert-list li").first).to_contain_text(tripped.rule["name"])
    page.wait_for_function("() => flood.sent >= 60000")
    draws_under_it(page)
    window.is_clean()


MANY_ARRIVALS = """async () => {
    const { Arrivals } = await import("/console/live/arrivals.js");
    const arrivals = new Arrivals();
    for (let index = 0; index < 1_000_000; index += 1) arrivals.add(Math.floor(index / 10), index % 1000);
    const last = 99_999;
    return { count: arrivals.count(last - 5000), slots: arrivals.slots.length, kept: arrivals.took(0).length,
        middle: arrivals.took(last - 60_000)[4_800] };
}"""


def test_what_came_in_a_minute_takes_no_more_room_however_much_it_was(open_window: OpenWindow) -> None:
    window = open_window(None)
    window.go("/")
    seen = window.page.evaluate(MANY_ARRIVALS)
    # ten a millisecond for 100 seconds; slots of 250 ms, the oldest one cut by the minute counts whole
    assert 50_000 <= seen["count"] <= 52_500
    assert seen["slots"] <= 242
    assert seen["kept"] <= 242 * 40
    # the middle of an even distribution from 0 to 999, of a sample of about 9,600
    assert 450 <= seen["middle"] <= 550
