"""Months of alerts: made in each round where they are missing, statistics once a day."""

from __future__ import annotations

from alert_api.service.alert_months import DAYS_AHEAD, AlertMonths


class Partitions:
    """Of which so many are missing in each round."""

    def __init__(self, *missing: int) -> None:
        self._missing = list(missing)
        self.calls: list[str] = []

    def extend(self, days_ahead: int) -> int:
        self.calls.append(f"extend by {days_ahead}")
        return self._missing.pop(0)

    def analyze(self) -> None:
        self.calls.append("analyze")


def test_statistics_are_gathered_at_the_start_daily_and_for_new_months() -> None:
    extended = f"extend by {DAYS_AHEAD}"
    partitions, now = Partitions(0, 0, 2, 0, 0), [5.0]
    months = AlertMonths(partitions, lambda: now[0])
    for seconds in (0, 60, 60, 86_399, 1):
        now[0] += seconds
        months.round()
    assert partitions.calls == [
        extended, "analyze", extended, extended, "analyze", extended, extended, "analyze",
    ]  # fmt: skip
