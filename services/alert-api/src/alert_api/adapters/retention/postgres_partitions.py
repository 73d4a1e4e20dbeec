"""The partitions of the alerts, which retention makes by the owner's functions (migration 0031)."""

from __future__ import annotations

from typing import Any, LiteralString

from alert_api.adapters.retention.retention_connection import retention_connection


class PostgresPartitions:
    """``AlertPartitions`` over a connection for each call: there are a few a minute."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def extend(self, days_ahead: int) -> int:
        """All alerts wait for it, and it for all alerts, two seconds at most: then the next round tries again."""
        [(made,)] = self._call("SELECT alerts.extend_alert_months(%s)", (days_ahead,))
        return int(made)

    def analyze(self) -> None:
        """A sample of each partition is read."""
        self._call("SELECT alerts.analyze_alerts()", ())

    def _call(self, query: LiteralString, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with retention_connection(self._dsn, statement_seconds=600) as connection:
            return connection.execute(query, values).fetchall()
