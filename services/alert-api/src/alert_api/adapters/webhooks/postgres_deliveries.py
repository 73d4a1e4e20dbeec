"""``DeliveryStore`` and ``ActiveWebhooks`` of the notifier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.notifications.notice_feed import notices_after
from alert_api.adapters.postgres_errors import pooled
from alert_api.adapters.webhooks.webhook_rows import ACTIVE
from alert_api.domain.notifications.case_notice import CaseNotice
from alert_api.domain.webhooks.message import Message
from alert_api.domain.webhooks.webhook import DeliveryState, WebhookContent
from alert_api.errors import StoreUnavailable
from alert_api.service.webhooks.deliverer import Answer, Target

# One process delivers: whoever holds the lease. Who lost it without knowing sends what another one sends too, under the
# same ids.
TAKE_LEASE = """
UPDATE alerts.webhook_lease SET holder = %(holder)s, until = now() + interval '10 seconds'
 WHERE holder = %(holder)s OR until < now()
"""
END_LEASE = "UPDATE alerts.webhook_lease SET until = now() WHERE holder = %s"
TARGET: LiteralString = f"""
SELECT webhook_id, name, url, template, event_types, secret_sealed, position, ping_at
  FROM alerts.webhooks WHERE webhook_id = %s AND {ACTIVE}
"""  # noqa: S608 - constants
ALL_ACTIVE: LiteralString = f"SELECT webhook_id FROM alerts.webhooks WHERE {ACTIVE}"  # noqa: S608 - constants
RECORD = """
INSERT INTO alerts.webhook_deliveries
    (webhook_id, event_id, type, position, state, attempts, last_status, last_error, changed_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (webhook_id, event_id) DO UPDATE
   SET state = excluded.state, attempts = excluded.attempts, last_status = excluded.last_status,
       last_error = excluded.last_error, changed_at = excluded.changed_at
"""
# Where somebody replays meanwhile the position is theirs.
ADVANCE = "UPDATE alerts.webhooks SET position = %s WHERE webhook_id = %s AND position = %s"
PINGED = "UPDATE alerts.webhooks SET ping_at = NULL WHERE webhook_id = %s AND ping_at = %s"


class PostgresDeliveries:
    """Short statements over a pool."""

    def __init__(
        self,
        pool: ConnectionPool[psycopg.Connection[Any]],
        unseal: Callable[[bytes], bytes],
        clock: Callable[[], int],
    ) -> None:
        self._pool, self._unseal, self._clock = pool, unseal, clock
        self._holder = uuid4().hex

    def is_leader(self) -> bool:
        """Whether the lease is this process's; asking renews it."""
        with pooled(self._pool) as connection:
            return connection.execute(TAKE_LEASE, {"holder": self._holder}).rowcount == 1

    def active(self) -> Collection[int]:
        """Ids of the webhooks that are told."""
        with pooled(self._pool) as connection:
            return [webhook_id for (webhook_id,) in connection.execute(ALL_ACTIVE).fetchall()]

    def target(self, webhook_id: int) -> Target | None:
        """The webhook, where it is active."""
        with pooled(self._pool) as connection:
            row = connection.execute(TARGET, (webhook_id,)).fetchone()
        if row is None:
            return None
        number, name, url, template, types, sealed, position, ping_at = row
        content = WebhookContent(name, url, template, tuple(types))
        return Target(number, content, self._unseal(bytes(sealed)).decode(), position, ping_at)

    def notices(self, after: int, limit: int) -> Sequence[CaseNotice]:
        """Those behind the position."""
        with pooled(self._pool) as connection, connection.cursor() as cursor:
            return notices_after(cursor, after, limit)

    def record(
        self, target: Target, message: Message, state: DeliveryState, attempts: int, answer: Answer
    ) -> None:
        """What has come of the message so far."""
        row = (
            target.webhook_id, message.id, message.type, message.position, state, attempts, answer.status,
            answer.error, self._clock(),
        )  # fmt: skip
        with pooled(self._pool) as connection:
            connection.execute(RECORD, row)

    def advance(self, target: Target, position: int) -> bool:
        """False where the position is no more the target's."""
        with pooled(self._pool) as connection:
            row = (position, target.webhook_id, target.position)
            return connection.execute(ADVANCE, row).rowcount == 1

    def pinged(self, target: Target) -> None:
        """The test that was asked for is done."""
        with pooled(self._pool) as connection:
            connection.execute(PINGED, (target.webhook_id, target.ping_at))

    def close(self) -> None:
        """Let another process deliver at once."""
        with suppress(StoreUnavailable), pooled(self._pool) as connection:
            connection.execute(END_LEASE, (self._holder,))
