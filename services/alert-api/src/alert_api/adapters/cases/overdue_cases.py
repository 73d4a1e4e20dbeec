"""How many cases are overdue, counted when somebody reads the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from alert_api.errors import StoreUnavailable
from alert_api.service.cases.case_queries import CaseFilter, CaseReader


class OverdueCases(Collector):
    """The gauge; without a value while the database is away. `clock` gives ms since the epoch."""

    def __init__(self, cases: CaseReader, clock: Callable[[], int]) -> None:
        self._cases = cases
        self._clock = clock

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """The name alone: a registry asks for it when the database may be away."""
        return [_gauge()]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Counted now."""
        gauge = _gauge()
        try:
            counts = self._cases.counts(CaseFilter(overdue_at=self._clock()))
        except StoreUnavailable:
            return [gauge]
        gauge.add_metric([], sum(counts.values()))
        return [gauge]


def _gauge() -> GaugeMetricFamily:
    return GaugeMetricFamily("tripline_cases_overdue", "Unresolved cases that are due before now.")
