"""The API's side of the database: reads everything, appends acknowledgements and outcomes of verifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString

import psycopg
from psycopg.types.json import Json
from psycopg_pool import ConnectionPool

from alert_api.adapters.alert_lists.alert_listing import SELECT_ALERTS, alert_page
from alert_api.adapters.cases.cases_of_alerts import with_cases
from alert_api.adapters.postgres_errors import pooled
from alert_api.domain.events import (
    AlertAcknowledged,
    AlertEvent,
    AlertId,
    AlertRaised,
    AlertVoided,
    Voiding,
)
from alert_api.errors import AlertNotFound, LifecycleBroken
from alert_api.service.alert_queries import AlertFilter, Page, Place, StoredAlert
from alert_api.service.verifications import KeptVerification

WAIT_SECONDS = 3.0

SELECT_EVENTS = """
SELECT e.type, e.occurred_at, e.actor, e.comment, v.transaction_id, v.event_time, v.command_id::text, v.position
  FROM alerts.alert_events e LEFT JOIN alerts.voided_transactions v USING (command_id)
 WHERE e.alert_id = %s ORDER BY e.version
"""

# A unique index decides a race, that on versions or that on acknowledgements, whichever is found first: who comes
# second stores nothing and is told so.
APPEND_EVENT = """
INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at, actor, comment)
VALUES (%s, %s, 'AlertAcknowledged', %s, %s, %s)
ON CONFLICT DO NOTHING
"""

KEEP_VERIFICATION = """
INSERT INTO alerts.alert_verifications (alert_id, outcome, differences, engine, evaluator, verified_at, actor)
VALUES (%s, %s, %s, %s, %s, %s, %s)
"""

SELECT_VERIFICATIONS = """
SELECT outcome, differences, engine, evaluator, verified_at, actor FROM alerts.alert_verifications
 WHERE alert_id = %s ORDER BY verification_id DESC LIMIT %s
"""


# What a page reads has to be little: what starts other processes, or compiles, because it might be much, takes longer
# than reading it.
OPTIONS: Final = "-c statement_timeout=15s -c max_parallel_workers_per_gather=0 -c jit=off"


def open_pool(dsn: str, size: int) -> ConnectionPool[psycopg.Connection[Any]]:
    """A pool that starts without a database and finds it when it comes."""
    return ConnectionPool(
        dsn,
        min_size=1,
        max_size=size,
        timeout=WAIT_SECONDS,
        max_waiting=size * 8,
        open=True,
        check=ConnectionPool.check_connection,
        kwargs={
            "autocommit": True,
            "connect_timeout": 5,
            "application_name": "tripline-alert-api",
            "options": OPTIONS,
        },
    )


class PostgresAlerts:
    """``AlertReader``, ``LifecycleStore`` and ``VerificationLog`` over a pool."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def page(self, alert_filter: AlertFilter, after: Place | None, limit: int) -> Page:
        """At most ``limit`` alerts after ``after``, newest first by (event time, then id upwards)."""
        with pooled(self._pool) as connection:
            return alert_page(connection, alert_filter, after, limit)

    def get(self, alert_id: AlertId) -> StoredAlert:
        """One alert. Raises AlertNotFound."""
        with pooled(self._pool) as connection:
            rows = connection.execute(SELECT_ALERTS + " WHERE a.alert_id = %s", (alert_id,)).fetchall()
            if not rows:
                raise AlertNotFound(alert_id)
            [alert] = with_cases(connection, rows)
            return alert

    def events_of(self, alert_id: AlertId) -> Sequence[AlertEvent]:
        """The alert's events, oldest first; empty when there is no such alert."""
        return [_event(alert_id, *row) for row in self._fetch(SELECT_EVENTS, (alert_id,))]

    def append(self, event: AlertEvent, version: int) -> bool:
        """Store an acknowledgement as the alert's ``version``; False when that version is taken."""
        if not isinstance(event, AlertAcknowledged):
            raise LifecycleBroken(f"{type(event).__name__} is for the projector to store")
        row = (event.alert_id, version, event.occurred_at, event.actor, event.comment)
        with pooled(self._pool) as connection:
            return connection.execute(APPEND_EVENT, row).rowcount == 1

    def keep_verification(self, alert_id: AlertId, kept: KeptVerification) -> None:
        """Store what came of one verification."""
        row = (
            alert_id, kept.outcome, Json(list(kept.differences)), kept.engine, kept.evaluator, kept.verified_at,
            kept.actor,
        )  # fmt: skip
        with pooled(self._pool) as connection:
            connection.execute(KEEP_VERIFICATION, row)

    def verifications_of(self, alert_id: AlertId, limit: int) -> Sequence[KeptVerification]:
        """The newest ``limit``, the newest first."""
        return [KeptVerification(*row) for row in self._fetch(SELECT_VERIFICATIONS, (alert_id, limit))]

    def check(self) -> None:
        """Return if alerts can be read now; raises StoreUnavailable."""
        self._fetch("SELECT 1 FROM alerts.alerts LIMIT 0", ())

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()

    def _fetch(self, query: LiteralString, values: dict[str, Any] | tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with pooled(self._pool) as connection:
            return connection.execute(query, values).fetchall()


def _event(
    alert_id: AlertId, kind: str, occurred_at: int, actor: str | None, comment: str | None, *voiding: Any
) -> AlertEvent:
    if kind == "AlertRaised":
        return AlertRaised(alert_id, occurred_at)
    if kind == "AlertAcknowledged" and actor is not None:
        return AlertAcknowledged(alert_id, occurred_at, actor, comment)
    if kind == "AlertVoided" and actor is not None:
        return AlertVoided(alert_id, occurred_at, actor, Voiding(*voiding))
    raise LifecycleBroken(f"alert {alert_id} has an event {kind!r} that this program does not know")
