"""How far back history is needed, by what rules.v1 says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.engine.archive.support.memory_store import START
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.rebuild.history_need import HistoryNeed, history_need

MINUTE = 60_000
HOUR = 3600


def event(position: int, window: int, *, since: Any = 0, occurred_at: Any = 0, **more: object) -> bytes:
    windows = [{"groupingKeyNames": [], "windowSeconds": 60, "ruleId": 1, "version": 1}]
    if window:
        windows.append({"groupingKeyNames": ["payeeId"], "windowSeconds": window, "ruleId": 7, "version": 1})
    return json.dumps(
        {"position": position, "widestWindows": windows, "effectiveFrom": since, "occurredAt": occurred_at}
        | more
    ).encode()


@pytest.mark.parametrize(
    ("events", "seconds", "reason"),
    [
        ([], 0, "no rules"),
        ([event(1, HOUR)], HOUR, "one rule"),
        ([event(2, 0), event(1, HOUR)], 60, "by position: it was shortened long ago"),
        (
            [event(1, HOUR), event(2, 0, occurred_at=START - 14 * MINUTE)],
            HOUR,
            "what may be late is judged by the older one",
        ),
        ([event(1, HOUR), event(2, 0, since=START + 9 * MINUTE)], HOUR, "the newer one isn't in force"),
        (
            [event(1, 2 * HOUR), event(2, 0, occurred_at=START), event(3, HOUR, occurred_at=START)],
            2 * HOUR,
            "two changes at once",
        ),
        ([event(1, HOUR), b"broken", None, b"[]", b'{"position":"3"}'], HOUR, "what nobody can read"),
        (
            [event(1, HOUR), b'{"position":2,"widestWindows":[{"windowSeconds":"x"},3]}'],
            HOUR,
            "half readable",
        ),
    ],
)
def test_the_widest_window_that_counts(events: list[bytes | None], seconds: int, reason: str) -> None:
    assert history_need(events, START).window_seconds == seconds, reason


SHADOW = {"type": "RuleShadowStarted", "ruleId": 9, "definition": {"conditions": {"all": [
    {"windowSeconds": HOUR, "offsetSeconds": 60}, {"windowSeconds": 70}]}}}  # fmt: skip


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ([], HOUR + 60),
        ([{"type": "RulePaused", "ruleId": 9}, {"type": "RuleShadowEnded", "ruleId": 8}], HOUR + 60),
        ([{"type": "RuleShadowEnded", "ruleId": 9}], 60),
        ([{"type": "RuleShadowPromoted", "ruleId": 9}], 60),
        ([{"type": "RulePublished", "ruleId": 9}], 60),
        ([{"type": "RuleDeleted", "ruleId": 9}], 60),
        ([{"type": "RuleShadowEnded", "ruleId": 9}, {**SHADOW, "definition": {"windowSeconds": 90}}], 90),
    ],
)
def test_a_shadow_s_window_counts_while_it_runs(after: list[dict[str, object]], seconds: int) -> None:
    """What rules need stands in each event; here the last one has 60 seconds."""
    events = [event(number, 0, **more) for number, more in enumerate([SHADOW, *after], 1)]
    need = history_need(events, START)
    assert (need.window_seconds, need.rule_id) == (seconds, 1 if seconds == 60 else 9)


def test_the_rule_is_named_and_the_settings_are_the_last_ones() -> None:
    settings = Tolerances(allowed_lateness_seconds=1, max_future_skew_seconds=2, max_disorder_seconds=4)
    events = [
        event(1, HOUR),
        event(2, HOUR, type="SettingsChanged", settings=settings.to_json()),
        event(3, HOUR, type="SettingsChanged", settings={"allowedLatenessSeconds": "many"}),
    ]
    need = history_need(events, START)
    assert need == HistoryNeed(HOUR, 7, settings)
    assert need.oldest(START) == START - (HOUR + 7) * 1000
    assert need.oldest(START, windows=2) == START - (2 * HOUR + 7) * 1000
