"""The counts of alerts, for who adds up their changes."""

from __future__ import annotations

from alert_api.adapters.retention.retention_connection import retention_connection


class PostgresCounts:
    """``Counts`` over a connection for each call: there is one a minute."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def settle_counts(self) -> int:
        """Adds up what transactions have left; gives the number of changes. Raises StoreUnavailable."""
        with retention_connection(self._dsn) as connection:
            (settled,) = connection.execute("SELECT alerts.settle_counts()").fetchone() or (0,)
        return int(settled)
