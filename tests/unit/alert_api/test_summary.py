"""Counts by rule, state and hour: the default day, the bounds, the sums."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from alert_api.service.alert_counts import HOUR_MS, Counted, Span, Tally
from alert_api.service.alert_queries import AlertFilter
from tests.unit.alert_api.support.samples import FakeOverview, app, key

VIEWER, AS_VIEWER = key("viewer", "alerts:read")
NOW = 1_000 * HOUR_MS + 5
DAY = 24 * HOUR_MS


def ask(overview: FakeOverview, query: str = "") -> tuple[int, dict[str, Any]]:
    client = app(overview=overview, keys=(VIEWER,), clock=NOW).test_client()
    response = client.get(f"/v1/alerts/summary{query}", headers=AS_VIEWER)
    return response.status_code, response.get_json()


def test_counts_are_told_by_rule_state_and_hour() -> None:
    overview = FakeOverview()
    overview.counts = Counted(
        {1: Tally(9, 5), 2: Tally(0, 4)}, {998: Tally(6, 5), 999: Tally(3, 4)}, {1: "Large sums"}
    )
    status, body = ask(overview)
    assert status == 200
    assert body == {
        "from": 977 * HOUR_MS,
        "to": 1001 * HOUR_MS - 1,
        "countedFrom": 977 * HOUR_MS,
        "byState": {"open": 9, "acknowledged": 9},
        "byRule": [
            {"ruleId": 1, "ruleName": "Large sums", "open": 9, "acknowledged": 5},
            {"ruleId": 2, "ruleName": "", "open": 0, "acknowledged": 4},
        ],
        "byHour": [
            {"hour": 998 * HOUR_MS, "open": 6, "acknowledged": 5},
            {"hour": 999 * HOUR_MS, "open": 3, "acknowledged": 4},
        ],
    }


@pytest.mark.parametrize(
    ("query", "span"),
    [
        ("", Span(977 * HOUR_MS, 1001 * HOUR_MS - 1)),
        ("?from=5&to=9", Span(5, 9)),
        (f"?from={999 * HOUR_MS}", Span(999 * HOUR_MS, 1001 * HOUR_MS - 1)),
        (f"?from={NOW + DAY}", Span(NOW + DAY, NOW + DAY)),
        (f"?to={2 * DAY}", Span(DAY + 1, 2 * DAY)),
        ("?to=5", Span(0, 5)),
        (f"?from=1&to={31 * DAY}", Span(1, 31 * DAY)),
    ],
)
def test_what_is_not_given_follows_from_what_is(query: str, span: Span) -> None:
    overview = FakeOverview()
    assert ask(overview, query)[0] == 200
    assert overview.counted == (span, [])


def test_rules_can_be_asked_for() -> None:
    overview = FakeOverview()
    ask(overview, "?ruleId=7")
    assert overview.counted is not None
    assert overview.counted[1] == [7]
    ask(overview, "?ruleId=7&ruleVersion=3")
    assert overview.asked.rule_version == 3
    ask(overview, "?ruleId=7&ruleId=9")
    assert overview.counted[1] == [7, 9]


def test_all_filters_of_the_list_hold_and_what_was_not_counted_is_told() -> None:
    overview = FakeOverview()
    overview.counts = Counted({}, {}, {}, since=700)
    status, body = ask(
        overview, "?from=5&to=900&state=open&group=payeeId:7&minAmount=9.5&severity=high&outcome=inconclusive"
    )
    assert (status, body["from"], body["countedFrom"]) == (200, 5, 700)
    assert overview.asked == AlertFilter(
        state="open",
        group=(("payeeId", "7"),),
        min_amount=Decimal("9.5"),
        severity="high",
        outcome="inconclusive",
        earliest=5,
        latest=900,
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?from=9&to=5", "query.to"),
        (f"?from=0&to={31 * DAY}", "query.from"),
        ("?from=0", "query.from"),
        ("?ruleId=0", "query.ruleId.0"),
        ("?" + "&".join(f"ruleId={number}" for number in range(1, 102)), "query.ruleId"),
        ("?state=shut", "query.state"),
        ("?limit=5", "query.limit"),
    ],
)
def test_a_wrong_question_is_named(query: str, field: str) -> None:
    status, body = ask(FakeOverview(), query)
    assert status == 422
    assert [error["field"] for error in body["errors"]] == [field]
