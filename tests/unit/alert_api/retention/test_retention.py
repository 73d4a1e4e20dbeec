"""The rounds of retention: they go on after one that failed, and end when told to."""

from __future__ import annotations

import threading

from prometheus_client import CollectorRegistry

from alert_api.adapters.metrics import RetentionMetrics
from alert_api.errors import StoreUnavailable
from alert_api.service import retention
from alert_api.service.retention import Kept, Retention, RetentionPolicy

POLICY = RetentionPolicy(days=1, records=2, bytes=3)


class CountingEvent(threading.Event):
    """One whose waits are counted and take no time."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return self.is_set()


class Letters:
    """Dead letters of a database that is away at first."""

    def __init__(self, stop: threading.Event, outages: int) -> None:
        self._stop, self._outages = stop, outages
        self.policies: list[RetentionPolicy] = []
        self.settled = self.months = 0

    def delete_beyond(self, policy: RetentionPolicy) -> int:
        self.policies.append(policy)
        if len(self.policies) <= self._outages:
            raise StoreUnavailable("away")
        self._stop.set()
        return 7

    def settle_counts(self) -> int:
        self.settled += 1
        return 1

    def round(self) -> None:
        self.months += 1

    def kept(self) -> Kept:
        return Kept(2, 3)


def test_a_round_that_failed_is_followed_by_the_next() -> None:
    stop, registry = CountingEvent(), CollectorRegistry()
    letters = Letters(stop, outages=2)
    Retention([(letters, RetentionMetrics(registry))], letters, [letters, letters], POLICY, stop).run()
    assert letters.policies == [POLICY] * 3
    assert letters.settled == 3
    assert letters.months == 2, "after what failed the round ends"
    assert stop.waits == [retention.ROUND_SECONDS] * 3
    assert registry.get_sample_value("tripline_dead_letters_deleted_total") == 7
    assert registry.get_sample_value("tripline_dead_letters_records") == 2
    assert registry.get_sample_value("tripline_dead_letters_bytes") == 3
