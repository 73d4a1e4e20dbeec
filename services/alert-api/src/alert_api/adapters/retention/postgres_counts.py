"""The counts of alerts, for who adds up their changes."""

from __future__ import annotations

import psycopg

from alert_api.adapters.postgres_errors import translated


class PostgresCounts:
    """``Counts`` over a connection for each call: there is one a minute."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def settle_counts(self) -> int:
        """Adds up what transactions have left; gives the number of changes. Raises StoreUnavailable."""
        try:
            with psycopg.connect(
                self._dsn,
                connect_timeout=5,
                tcp_user_timeout=20_000,
                application_name="tripline-retention",
                options="-c statement_timeout=60s",
            ) as connection:
                (settled,) = connection.execute("SELECT alerts.settle_counts()").fetchone() or (0,)
        except psycopg.Error as error:
            raise translated(error) from error
        return int(settled)
