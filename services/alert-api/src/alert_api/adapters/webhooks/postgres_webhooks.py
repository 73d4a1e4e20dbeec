"""``WebhookStore`` over the API's pool. It writes secrets and cannot read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.adapters.webhooks.webhook_rows import (
    DELIVERY_COLUMNS,
    WEBHOOK_COLUMNS,
    stored_delivery,
    stored_webhook,
)
from alert_api.domain.webhooks.webhook import DeliveryState, Webhook, WebhookContent
from alert_api.service.webhooks.webhook_desk import MOST, DeliveryPage

SELECT: LiteralString = f"SELECT {WEBHOOK_COLUMNS} FROM alerts.webhooks WHERE removed_at IS NULL"  # noqa: S608 - constants

# It begins where the log ends: what has been is told by a replay.
ADD = """
INSERT INTO alerts.webhooks
    (name, url, template, event_types, secret_sealed, content_hash, four_eyes, requested_by, requested_at, position)
SELECT %s, %s, %s, %s::text[], %s, %s, %s, %s, %s, c.position FROM alerts.case_cursor c
 WHERE (SELECT count(*) FROM alerts.webhooks WHERE removed_at IS NULL) < %s
ON CONFLICT DO NOTHING
RETURNING webhook_id
"""
APPROVE = """
UPDATE alerts.webhooks SET approved_by = %s, approved_at = %s
 WHERE webhook_id = %s AND approved_by IS NULL AND removed_at IS NULL AND requested_by <> %s
"""
REMOVE = """
UPDATE alerts.webhooks SET removed_by = %s, removed_at = %s WHERE webhook_id = %s AND removed_at IS NULL
"""
PING = "UPDATE alerts.webhooks SET ping_at = %s WHERE webhook_id = %s AND removed_at IS NULL"
# The log's order is that of positions, not quite that of times: so the last one before the first that is late enough.
REPLAY = """
UPDATE alerts.webhooks
   SET position = coalesce(%(position)s, (
        SELECT min(position) - 1 FROM (
            SELECT position FROM alerts.case_openings WHERE occurred_at >= %(instant)s
            UNION ALL
            SELECT position FROM alerts.case_events WHERE occurred_at >= %(instant)s AND position > 0) AS later),
        position)
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL
"""
DELIVERIES: LiteralString = f"""
SELECT {DELIVERY_COLUMNS} FROM alerts.webhook_deliveries
 WHERE webhook_id = %(webhook)s AND (%(state)s::text IS NULL OR state = %(state)s)
   AND (%(changed)s::bigint IS NULL OR (changed_at, event_id) < (%(changed)s, %(event)s))
 ORDER BY changed_at DESC, event_id DESC LIMIT %(limit)s
"""  # noqa: S608 - constants


class PostgresWebhooks:
    """The API's side of webhooks."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def all(self) -> Sequence[Webhook]:
        """Those that nobody removed, by name."""
        with pooled(self._pool) as connection:
            return [stored_webhook(row) for row in connection.execute(SELECT + " ORDER BY name").fetchall()]

    def get(self, webhook_id: int) -> Webhook | None:
        """One of them."""
        with pooled(self._pool) as connection:
            row = connection.execute(SELECT + " AND webhook_id = %s", (webhook_id,)).fetchone()
        return None if row is None else stored_webhook(row)

    def add(
        self, content: WebhookContent, sealed: bytes, actor: str, now: int, *, four_eyes: bool
    ) -> int | None:
        """At the log's end; None where the name is taken, or there are too many."""
        values = (
            content.name, content.url, content.template, list(content.types), sealed, content.hash, four_eyes,
            actor, now, MOST,
        )  # fmt: skip
        with pooled(self._pool) as connection:
            row = connection.execute(ADD, values).fetchone()
        return None if row is None else int(row[0])

    def approve(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where somebody did, or it is their own."""
        return self._update(APPROVE, (actor, now, webhook_id, actor))

    def remove(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where it is not there."""
        return self._update(REMOVE, (actor, now, webhook_id))

    def ask_for_ping(self, webhook_id: int, now: int) -> bool:
        """False where it is not there."""
        return self._update(PING, (now, webhook_id))

    def replay(self, webhook_id: int, position: int | None, instant: int | None) -> bool:
        """False where it is not there."""
        return self._update(REPLAY, {"webhook": webhook_id, "position": position, "instant": instant})

    def deliveries(
        self, webhook_id: int, state: DeliveryState | None, before: tuple[int, str] | None, limit: int
    ) -> DeliveryPage:
        """Those that changed last first."""
        changed, event = before or (None, None)
        values = {
            "webhook": webhook_id,
            "state": state,
            "changed": changed,
            "event": event,
            "limit": limit + 1,
        }
        with pooled(self._pool) as connection:
            rows = connection.execute(DELIVERIES, values).fetchall()
        deliveries = [stored_delivery(row) for row in rows[:limit]]
        last = deliveries[-1] if len(rows) > limit else None
        return DeliveryPage(deliveries, None if last is None else (last.changed_at, last.event_id))

    def _update(self, statement: LiteralString, values: Any) -> bool:
        with pooled(self._pool) as connection:
            return connection.execute(statement, values).rowcount == 1
