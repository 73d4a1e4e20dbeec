"""When cases are due, how the setting is read, and the gauge of those that are overdue."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from alert_api.adapters.cases.overdue_cases import OverdueCases
from alert_api.domain.cases.case import opened, reopened
from alert_api.domain.cases.due import DEFAULT, DuePolicy, worst
from alert_api.domain.cases.subject import Subject
from alert_api.errors import StoreUnavailable
from alert_api.settings import api_settings
from tests.unit.alert_api.support.case_log import facts
from tests.unit.alert_api.support.fake_cases import WAIT, FakeCases
from tripline_http.errors import ConfigurationError

HOUR = 3_600_000
CASE = opened(facts(1, 100, detected_at=1_000), Subject.of_field("payeeId", "25"))


def test_a_case_is_due_so_long_after_it_was_opened_or_reopened() -> None:
    policy = DuePolicy.parse("high=2h, low=90m,info=1d")
    assert policy.by_severity == {"high": 2 * HOUR, "low": 90 * 60_000, "info": 24 * HOUR}
    assert policy.due_at(CASE, "high") == 1_000 + 2 * HOUR
    assert policy.due_at(CASE, "medium") is None
    assert policy.due_at(CASE, None) is None
    resolved = replace(CASE, state="resolved", outcome="inconclusive")
    assert policy.due_at(resolved, "high") is None
    assert policy.due_at(reopened(resolved, 9, 7_000), "low") == 7_000 + 90 * 60_000


def test_the_worst_severity_counts() -> None:
    assert worst(["low", None, "critical", "high"]) == "critical"
    assert worst([None]) is None
    assert worst([]) is None


@pytest.mark.parametrize(
    "text",
    ["high", "high=1", "high=0h", "bad=1h", "high=1h,high=2h", "high=1.5h", "high=9999d", "high=1h,", "1h"],
)
def test_a_setting_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for name, value in {"ALERTS_DSN": "postgresql://a@127.0.0.1/x", "API_KEYS_FILE": "x"}.items():
        monkeypatch.setenv(f"TRIPLINE_{name}", value)
    monkeypatch.setenv("TRIPLINE_CASE_DUE", text)
    with pytest.raises(ConfigurationError, match="TRIPLINE_CASE_DUE"):
        api_settings()


@pytest.mark.parametrize(("text", "waits"), [("", 4), ("none", 0), (DEFAULT, 4), ("info=30m", 1)])
def test_the_setting(monkeypatch: pytest.MonkeyPatch, text: str, waits: int) -> None:
    for name, value in {"ALERTS_DSN": "postgresql://a@127.0.0.1/x", "API_KEYS_FILE": "x"}.items():
        monkeypatch.setenv(f"TRIPLINE_{name}", value)
    monkeypatch.setenv("TRIPLINE_CASE_DUE", text)
    assert len(api_settings().due.by_severity) == waits


def test_overdue_cases_are_counted_when_metrics_are_read() -> None:
    cases, registry = FakeCases(facts(1, 100, detected_at=1_000)), CollectorRegistry()
    now = 1_000
    registry.register(OverdueCases(cases, lambda: now))
    assert b"tripline_cases_overdue 0.0" in generate_latest(registry)
    now = 1_001 + WAIT
    assert b"tripline_cases_overdue 1.0" in generate_latest(registry)

    def away(_: object) -> dict[str, int]:
        raise StoreUnavailable("away")

    cases.counts = away  # type: ignore[method-assign, assignment]
    lines = generate_latest(registry).decode().splitlines()
    assert [line for line in lines if not line.startswith("#")] == []
