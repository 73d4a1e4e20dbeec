"""A shadow beside its rule, as the API says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from alert_api.domain.performance.arms import ArmSums, RolloutSpan
from alert_api.processes import SHADOWS, reader
from alert_api.service.alert_counts import HOUR_MS, Span
from alert_api.service.records import ReceivedAlert, Unreadable
from alert_api.service.shadows.shadow_comparison import Alerted, Arm, Arms, HourOfBoth, ShadowComparison
from tests.unit.alert_api.support import samples
from tests.unit.alert_api.support.fake_views import FakeShadows
from tests.unit.alert_api.support.samples import EPOCH, alert, app, key, record
from tripline_contracts import event_type_loader

READER, HEADERS = key("ada", "alerts:read")


def test_counts_by_hour_their_sums_and_the_newest_of_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shadows = FakeShadows(
        ShadowComparison(
            [HourOfBoth(7, 3, 2, 1), HourOfBoth(9, 0, 0, 5)], [Alerted("a", 1)], [Alerted("b", 2)]
        )
    )
    monkeypatch.setattr(samples, "FakeShadows", lambda: shadows)
    client = app(keys=[READER]).test_client()
    answer = client.get(f"/v1/rules/4/shadow?version=6&from={EPOCH}&to={EPOCH + 5}", headers=HEADERS)
    assert answer.status_code == 200, answer.text
    assert shadows.asked == [(4, 6, Span(EPOCH, EPOCH + 5))]
    assert answer.json == {
        "ruleId": 4,
        "version": 6,
        "from": EPOCH,
        "to": EPOCH + 5,
        "both": 3,
        "onlyActive": 2,
        "onlyShadow": 6,
        "hours": [
            {"hour": 7 * HOUR_MS, "both": 3, "onlyActive": 2, "onlyShadow": 1},
            {"hour": 9 * HOUR_MS, "both": 0, "onlyActive": 0, "onlyShadow": 5},
        ],
        "newestOnlyActive": [{"transactionId": "a", "eventTime": 1}],
        "newestOnlyShadow": [{"transactionId": "b", "eventTime": 2}],
        "arms": None,
    }


def test_arms_of_a_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Arm(ArmSums(10, 10, 900, 10 * 90**2), {"confirmed_fraud": 8, "false_positive": 2})
    active = Arm(ArmSums(90, 90, 900, 90 * 10**2), {"inconclusive": 1})
    arms = Arms([RolloutSpan(10, EPOCH, EPOCH + 86_400_000)], trial, active)
    shadows = FakeShadows(ShadowComparison([], [], [], arms))
    monkeypatch.setattr(samples, "FakeShadows", lambda: shadows)
    client = app(keys=[READER]).test_client()
    answer = client.get(f"/v1/rules/4/shadow?version=6&from={EPOCH}&to={EPOCH + 5}", headers=HEADERS)
    told = answer.get_json()["arms"]
    assert told["spans"] == [{"from": EPOCH, "to": EPOCH + 86_399_999, "percent": 10}]
    assert told["trial"] == {
        "groups": 10,
        "alerts": 10,
        "alertsPerPercentDay": 1.0,
        "resolved": 10,
        "cases": {"confirmed_fraud": 8, "false_positive": 2, "known_accepted": 0, "inconclusive": 0},
        "precision": {"value": 0.8, "low": 0.4902, "high": 0.9433},
    }
    assert (told["active"]["alertsPerPercentDay"], told["active"]["resolved"]) == (1.0, 1)
    assert told["active"]["precision"] is None
    assert told["ratio"]["value"] == 1
    assert (told["ratio"]["low"], told["ratio"]["high"]) == (0.4678, 1.9196)


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "query.version"), ("version=0", "query.version"), ("version=1&from=9&to=8", "query.to")],
)
def test_what_is_wrong_is_named(query: str, field: str) -> None:
    client = app(keys=[READER]).test_client()
    answer = client.get(f"/v1/rules/4/shadow?{query}", headers=HEADERS)
    assert answer.status_code == 422
    body: dict[str, Any] = answer.get_json()
    assert [error["field"] for error in body["errors"]] == [field]


@pytest.mark.parametrize(
    ("topic", "mode", "is_shadow"),
    [
        ("alerts.v1", "live", False),
        (SHADOWS, "shadow", True),
        ("alerts.v1", "shadow", None),
        (SHADOWS, "live", None),
    ],
)
def test_an_alert_is_what_its_topic_and_its_mode_say_together(
    topic: str,
    mode: str,
    is_shadow: bool | None,
) -> None:
    read = reader("rules.v1", event_type_loader.load(), SHADOWS)
    came = read(replace(record(alert(1, mode=mode)), topic=topic))
    if is_shadow is None:
        assert isinstance(came, Unreadable)
    else:
        assert isinstance(came, ReceivedAlert)
        assert came.is_shadow is is_shadow
