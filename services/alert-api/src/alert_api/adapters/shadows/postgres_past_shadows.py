"""Alerts of shadows seen by who deletes them: kept for as long as their topic keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog

from alert_api.adapters.retention.retention_connection import retention_connection

log = structlog.get_logger(__name__)

DAYS: Final = 90
"""As `retention.ms` of shadow-alerts.v1: after that nobody can look up the whole of an alert."""
BATCH: Final = 10_000
"""Deleted in one transaction."""
_DAY_MS: Final = 86_400_000

DELETE_OLDEST = """
DELETE FROM alerts.shadow_alerts
 WHERE alert_id IN (SELECT alert_id FROM alerts.shadow_alerts WHERE detected_at < %s ORDER BY detected_at LIMIT %s)
"""


class PostgresPastShadows:
    """``Upkeep`` over a connection for each round; `clock` gives ms since the epoch."""

    def __init__(self, dsn: str, clock: Callable[[], int]) -> None:
        self._dsn, self._clock = dsn, clock

    def round(self) -> None:
        """Deletes what was detected more than ``DAYS`` ago, oldest first. Raises StoreUnavailable."""
        bounds, deleted = (self._clock() - DAYS * _DAY_MS, BATCH), 0
        with retention_connection(self._dsn, autocommit=True) as connection:
            while (count := connection.execute(DELETE_OLDEST, bounds).rowcount) == BATCH:
                deleted += count
        if deleted + count:
            log.info("shadow_alerts_deleted", alerts=deleted + count, days=DAYS)
