"""The console's pages of alerts, and its counts of them, of more rules than the alert API takes at once."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route

from tests.browser.conftest import OpenWindow

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

HOUR = 3_600_000
RULES = range(1, 251)
ALL_PAGES = """async (ids) => {
    const { AlertPages } = await import("/console/alerts/alert_pages.js");
    const pages = new AlertPages(new URLSearchParams("state=open&ruleId=7"), ids && new Set(ids));
    const given = [];
    while (pages.hasMore) {
        try { given.push((await pages.next()).map((alert) => alert.alertId)); } catch { given.push("broken"); }
    }
    return given;
}"""
COUNTED = """async (ids) => {
    const { countAlerts } = await import("/console/alerts/alert_counts.js");
    return await countAlerts(ids && new Set(ids));
}"""
COUNTED_BY = """async (filters) => {
    const { countAlerts } = await import("/console/alerts/alert_counts.js");
    return await countAlerts(new Set([7]), new URLSearchParams(filters));
}"""
CHART = """async (countedFrom) => {
    const { hoursChart } = await import("/console/alerts/hours_chart.js");
    const counts = { open: 5, acknowledged: 2 };
    const span = { from: 0, to: 8 * 3600000 - 1, countedFrom };
    return hoursChart({ ...span, byState: counts, byHour: [] }).textContent;
}"""


def some_alerts() -> list[dict[str, Any]]:
    """Of some of the rules, many at the same time."""
    draw = random.Random(3)
    return [
        {
            "alertId": f"{draw.getrandbits(64):016x}",
            "ruleId": draw.choice(RULES),
            "eventTime": draw.randrange(30) * HOUR // 4,
        }
        for _ in range(330)
    ]


class AlertService:
    """What the alert API answers, as far as these pages ask: its listing and its summary."""

    def __init__(self, alerts: list[dict[str, Any]]) -> None:
        self.alerts = sorted(alerts, key=lambda alert: (-alert["eventTime"], alert["alertId"]))
        self.asked: list[dict[str, list[str]]] = []
        self.fails_at: int | None = None

    def listens(self, page: Page) -> None:
        page.route("**/v1/alerts?*", self.list)
        page.route("**/v1/alerts/summary?*", self.summarize)

    def of(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        wanted = query.get("ruleId", [])
        assert len(wanted) <= 100
        return [alert for alert in self.alerts if not wanted or str(alert["ruleId"]) in wanted]

    def list(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        query = parse_qs(address.query)
        self.asked.append(query)
        if len(self.asked) == self.fails_at:
            return route.fulfill(status=503, json={"detail": "away"})
        begin, limit = int(query.get("cursor", ["0"])[0]), int(query["limit"][0])
        listed = self.of(query)
        rules = "".join(f"&ruleId={rule}" for rule in query.get("ruleId", []))
        following = f'</v1/alerts?limit={limit}&cursor={begin + limit}{rules}>; rel="next"'
        headers = {"Link": following} if begin + limit < len(listed) else {}
        return route.fulfill(json={"items": listed[begin : begin + limit]}, headers=headers)

    def summarize(self, route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        self.asked.append(query)
        counted = self.of(query)
        hours, rules = (
            {alert[name] // unit for alert in counted} for name, unit in (("eventTime", HOUR), ("ruleId", 1))
        )

        def tally(name: str, unit: int, value: int) -> dict[str, int]:
            return {
                "open": sum(alert[name] // unit == value for alert in counted), "acknowledged": 0,
            }  # fmt: skip

        route.fulfill(
            json={
                "from": 0, "to": 8 * HOUR - 1, "byState": {"open": len(counted), "acknowledged": 0},
                "byRule": [{"ruleId": rule, **tally("ruleId", 1, rule)} for rule in sorted(rules)],
                "byHour": [{"hour": hour * HOUR, **tally("eventTime", HOUR, hour)} for hour in sorted(hours)],
            }
        )  # fmt: skip


def ids(alerts: list[dict[str, Any]]) -> list[str]:
    return [alert["alertId"] for alert in alerts]


@pytest.fixture
def service() -> AlertService:
    return AlertService(some_alerts())


@pytest.fixture
def page(open_window: OpenWindow, service: AlertService) -> Page:
    window = open_window("viewer")
    window.go("/rules")
    service.listens(window.page)
    return window.page


@pytest.mark.parametrize("rules", [250, 101, 100, 7])
def test_pages_are_those_of_one_listing(page: Page, service: AlertService, rules: int) -> None:
    wanted = list(RULES[:rules])
    of_them = [alert for alert in service.alerts if alert["ruleId"] in wanted]
    pages = page.evaluate(ALL_PAGES, wanted)
    assert [one for given in pages for one in given] == ids(of_them)
    assert {len(given) for given in pages[:-1]} <= {25}
    firsts = [query for query in service.asked if "cursor" not in query]
    assert len(firsts) == -(-rules // 100)
    assert {tuple(query["state"]) for query in firsts} == {("open",)}


def test_of_no_rule_there_is_nothing_to_ask_and_without_a_choice_the_query_stays(
    page: Page, service: AlertService
) -> None:
    assert page.evaluate(ALL_PAGES, []) == []
    assert service.asked == []
    assert len(page.evaluate(ALL_PAGES, None)) == 1
    assert service.asked[0]["ruleId"] == ["7"]


def test_an_answer_that_does_not_come_loses_nothing(page: Page, service: AlertService) -> None:
    service.fails_at = 6
    pages = page.evaluate(ALL_PAGES, list(RULES))
    assert pages.count("broken") == 1
    assert [one for given in pages if given != "broken" for one in given] == ids(service.alerts)


@pytest.mark.parametrize("rules", [250, 101, 100, 0])
def test_counts_are_those_of_all_chosen_rules(page: Page, service: AlertService, rules: int) -> None:
    wanted = set(RULES[:rules])
    of_them = [alert for alert in service.alerts if alert["ruleId"] in wanted]
    counted = page.evaluate(COUNTED, sorted(wanted))
    assert counted["byState"] == {"open": len(of_them), "acknowledged": 0}
    by_hour = {hour["hour"] // HOUR: hour["open"] for hour in counted["byHour"]}
    assert by_hour == {
        hour: sum(alert["eventTime"] // HOUR == hour for alert in of_them)
        for hour in {alert["eventTime"] // HOUR for alert in of_them}
    }
    assert (counted["from"], counted["to"]) == (0, 8 * HOUR - 1)


def test_counts_fit_the_filters_of_the_list(page: Page, service: AlertService) -> None:
    filters = "ruleId=7&state=open&from=5&severity=high&group=payeeId%3A7&minAmount=9&snoozed=all"
    page.evaluate(COUNTED_BY, filters)
    assert service.asked == [{"ruleId": ["7"], "group": ["payeeId:7"], "minAmount": ["9"]}]


def test_a_chart_says_how_far_back_it_counts(page: Page) -> None:
    assert "5 open and 2 acknowledged in the last 24 hours" in page.evaluate(CHART, 0)
    assert "5 open and 2 acknowledged since " in page.evaluate(CHART, 3 * HOUR)
