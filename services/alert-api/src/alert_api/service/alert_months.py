"""The months by which alerts are partitioned: made ahead, and counted for the planner of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import structlog

log = structlog.get_logger(__name__)

DAYS_AHEAD: Final = 35
"""Made so long before a month begins: whoever mends this process has a month to do so, and nothing is lost then."""

_ANALYZED_SECONDS: Final = 86_400.0


class AlertPartitions(Protocol):
    """The partitions of the alerts. Raises StoreUnavailable."""

    def extend(self, days_ahead: int) -> int:
        """Makes the months up to so many days from now; gives their number."""

    def analyze(self) -> None:
        """Gathers the statistics that queries over all partitions are planned by."""


class AlertMonths:
    """What retention does for them in each of its rounds."""

    def __init__(self, partitions: AlertPartitions, monotonic: Callable[[], float]) -> None:
        self._partitions, self._monotonic = partitions, monotonic
        self._analyzed: float | None = None

    def round(self) -> None:
        """Makes what is missing; once a day, and after that, gathers statistics. Raises StoreUnavailable."""
        made = self._partitions.extend(DAYS_AHEAD)
        if made:
            log.info("alert_months_made", months=made)
        now = self._monotonic()
        if made or self._analyzed is None or now - self._analyzed >= _ANALYZED_SECONDS:
            self._partitions.analyze()
            self._analyzed = now
