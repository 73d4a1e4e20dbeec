"""When a version alerts too often."""

from __future__ import annotations

import pytest

from rules_registry.domain.guard.alert_rate import HOUR_MS, LEAST_SPAN_MS, AlertRate, Limits, excess

LIMITS = Limits(factor=10, least=100, first=1_000)
CASES: list[tuple[int, AlertRate | None, bool, str]] = [
    (99, AlertRate(0, HOUR_MS), False, "too few to matter"),
    (100, AlertRate(0, HOUR_MS), True, "the one before did not alert"),
    (100, AlertRate(10, HOUR_MS), False, "just as often as it may"),
    (101, AlertRate(10, HOUR_MS), True, "once more"),
    (100, AlertRate(10, 2 * HOUR_MS), True, "half as often before"),
    (400, AlertRate(20, HOUR_MS // 2), False, "a short life counts by the hour"),
    (401, AlertRate(20, HOUR_MS // 2), True, "and once more"),
    (1_000, AlertRate(0, LEAST_SPAN_MS - 1), False, "a life too short to compare with"),
    (1_001, AlertRate(0, LEAST_SPAN_MS - 1), True, "is as no version before"),
    (1_000, None, False, "what a first version may"),
    (1_001, None, True, "what it may not"),
]


@pytest.mark.parametrize(("count", "before", "flagged", "reason"), CASES, ids=[case[-1] for case in CASES])
def test_excess(count: int, before: AlertRate | None, flagged: bool, reason: str) -> None:
    assert (excess(4, count, before, LIMITS) is not None) == flagged, reason


def test_it_says_what_was_seen_and_what_is_allowed() -> None:
    assert excess(4, 1_200, AlertRate(40, 24 * HOUR_MS), LIMITS) == (
        "Version 4 alerted 1200 times within an hour, the version before it 1.7 times an hour; 10 times that is "
        "allowed."
    )
    assert excess(1, 1_200, None, LIMITS) == (
        "Version 1 alerted 1200 times within an hour; 1000 are allowed to a first version."
    )
