"""What rules are worth: the arithmetic, and what callers are told."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from alert_api.api.performance.performance import DAY_MS
from alert_api.domain.performance.precision import Precision
from alert_api.service.alert_counts import Span
from alert_api.service.performance.rule_performance import DayCount, Spread, VersionKey, VersionPerformance
from tests.unit.alert_api.support.case_app import case_app
from tests.unit.alert_api.support.fake_cases import FakeCases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.samples import key

NOW = 1_800_000_000_000
VIEWER, AS_VIEWER = key("viewer", "alerts:read")


@pytest.mark.parametrize(
    ("confirmed", "wrong", "value", "low", "high"),
    [
        # by hand: n = 10, p = 0.8; (0.8 + 0.19207 ± 1.95996 √(0.016 + 0.0096036)) / 1.384146
        (8, 2, 0.8, 0.4902, 0.9433),
        # without a miss the upper end is 1, and the lower one 1 / (1 + z²/n)
        (1, 0, 1.0, 0.2065, 1.0),
        (0, 5, 0.0, 0.0, 0.4345),
        (500, 500, 0.5, 0.4691, 0.5309),
    ],
)
def test_precision(confirmed: int, wrong: int, value: float, low: float, high: float) -> None:
    assert Precision.of(confirmed, wrong) == Precision(value, low, high)


def test_nothing_decided_has_no_precision() -> None:
    assert Precision.of(0, 0) is None


@given(confirmed=st.integers(0, 10**6), wrong=st.integers(0, 10**6))
def test_the_interval_holds_the_share_and_solves_wilsons_equation(confirmed: int, wrong: int) -> None:
    precision = Precision.of(confirmed, wrong)
    if precision is None:
        return
    assert 0 <= precision.low <= precision.value <= precision.high <= 1
    count, share = confirmed + wrong, confirmed / (confirmed + wrong)
    for end in (precision.low, precision.high):
        # |p − end| = z √(end (1 − end) / n), but for the rounding of the end
        if 0 < end < 1:
            deviation = math.sqrt(end * (1 - end) / count)
            off = abs(share - end) - 1.959963984540054 * deviation
            assert abs(off) < 1e-4 * (2 + 1 / (count * deviation))


def version(number: int = 1, **more: Any) -> VersionPerformance:
    return VersionPerformance(VersionKey(7, number), "Many", 12, **more)


def client(
    *rows: VersionPerformance, counted: tuple[DayCount, ...] = ()
) -> tuple[FlaskClient, FakePerformance]:
    reader = FakePerformance(rows, counted)
    return case_app(FakeCases(), (VIEWER,), NOW, reader).test_client(), reader


def test_what_callers_are_told() -> None:
    seen = version(
        cases={"confirmed_fraud": 1, "inconclusive": 2},
        acknowledged_in=Spread(1000, 5000),
        resolved_in=Spread(60_000, 90_000),
    )
    asking, reader = client(seen, version(2))
    body = asking.get("/v1/rule-performance?ruleId=7&from=5&to=9", headers=AS_VIEWER).get_json()
    assert (body["from"], body["to"]) == (5, 9)
    assert reader.asked == [(Span(5, 9), (7,))]
    first, second = body["items"]
    assert first == {
        "ruleId": 7, "ruleName": "Many", "ruleVersion": 1, "alerts": 12,
        "cases": {"confirmed_fraud": 1, "false_positive": 0, "known_accepted": 0, "inconclusive": 2},
        "precision": {"value": 1.0, "low": 0.2065, "high": 1.0},
        "acknowledgedIn": {"median": 1000, "p95": 5000}, "resolvedIn": {"median": 60_000, "p95": 90_000},
        "alwaysWrong": False,
    }  # fmt: skip
    assert (second["precision"], second["acknowledgedIn"], second["resolvedIn"]) == (None, None, None)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ({"false_positive": 5}, True),
        ({"false_positive": 4}, False),
        ({"false_positive": 50, "confirmed_fraud": 1}, False),
        ({"inconclusive": 9}, False),
    ],
)
def test_a_rule_that_is_always_wrong(cases: Any, expected: bool) -> None:
    assert version(cases=cases).is_always_wrong is expected


def test_one_rule_with_its_days() -> None:
    asking, reader = client(version(), counted=(DayCount(20_000, 1, 3), DayCount(20_001, 2, 4)))
    body = asking.get("/v1/rules/7/performance", headers=AS_VIEWER).get_json()
    assert body["days"] == [
        {"day": 20_000 * DAY_MS, "ruleVersion": 1, "alerts": 3},
        {"day": 20_001 * DAY_MS, "ruleVersion": 2, "alerts": 4},
    ]
    assert reader.asked[0] == (Span(NOW - 30 * DAY_MS + 1, NOW), (7,))


@pytest.mark.parametrize(
    ("query", "field"),
    [("from=9&to=5", "query.to"), (f"from=0&to={92 * DAY_MS}", "query.from"), ("from=x", "query.from")],
)
def test_spans_that_are_none(query: str, field: str) -> None:
    asking, _ = client()
    for path in ("/v1/rule-performance", "/v1/rule-performance/export", "/v1/rules/7/performance"):
        answer = asking.get(f"{path}?{query}", headers=AS_VIEWER)
        assert answer.status_code == 422, answer.text
        assert [error["field"] for error in answer.get_json()["errors"]] == [field]


def test_the_csv_has_no_formulas() -> None:
    named = VersionPerformance(VersionKey(7, 1), '=HYPERLINK("x")', 3, {"false_positive": 2})
    asking, _ = client(named, version(2))
    answer = asking.get("/v1/rule-performance/export", headers=AS_VIEWER)
    assert answer.mimetype == "text/csv"
    first, second = csv.DictReader(io.StringIO(answer.text))
    assert first["ruleName"] == '\'=HYPERLINK("x")'
    assert (first["false_positive"], first["precision"], first["precisionHigh"]) == ("2", "0.0", "0.6576")
    assert (second["precision"], second["resolvedInMedianMs"], second["alwaysWrong"]) == ("", "", "false")
