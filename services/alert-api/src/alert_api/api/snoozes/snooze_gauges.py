"""Snoozes as metrics, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from alert_api.errors import StoreUnavailable
from alert_api.service.snoozes.snooze_queries import SnoozeReader

log = structlog.get_logger(__name__)


class SnoozeGauges(Collector):
    """Snoozes by state and what those in force suppressed; without a database there are none."""

    def __init__(self, snoozes: SnoozeReader, clock: Callable[[], int]) -> None:
        self._snoozes = snoozes
        self._clock = clock

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The names alone: nothing is asked for when this is registered."""
        yield from _families()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics as they are now."""
        try:
            counts = self._snoozes.counts(self._clock())
        except StoreUnavailable as error:
            log.warning("snoozes_not_counted", error=str(error))
            return
        snoozes, suppressed = _families()
        snoozes.add_metric(["requested"], counts.requested)
        snoozes.add_metric(["in_force"], counts.in_force)
        suppressed.add_metric([], counts.suppressed)
        yield from (snoozes, suppressed)


def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
    return (
        GaugeMetricFamily("tripline_snoozes", "Snoozes that are open, by state.", labels=["state"]),
        GaugeMetricFamily("tripline_snoozed_alerts", "Alerts that the snoozes in force suppressed."),
    )
