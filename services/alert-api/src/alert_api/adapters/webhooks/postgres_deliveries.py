"""``DeliveryStore`` and ``ActiveWebhooks`` of the notifier, over one connection for all webhooks.

Their threads wait for one another for as long as a short statement takes, never for a request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString
from uuid import uuid4

import psycopg

from alert_api.adapters.notifications.notice_feed import notices_after
from alert_api.adapters.postgres_errors import HeldConnection
from alert_api.adapters.webhooks.webhook_rows import ACTIVE, CONTENT_COLUMNS, stored_content
from alert_api.domain.notifications.case_notice import CaseNotice
from alert_api.domain.webhooks.message import Message
from alert_api.domain.webhooks.signature import Secrets
from alert_api.domain.webhooks.webhook import DeliveryState
from alert_api.errors import SecretSealedOtherwise, StoreUnavailable
from alert_api.service.webhooks.deliverer import Answer, Target

KEPT_MS: Final = 90 * 86_400_000
"""Deliveries are kept for so long after they changed last."""

# One process delivers: whoever holds the lease. Who lost it without knowing sends what another one sends too, under the
# same ids.
TAKE_LEASE = """
UPDATE alerts.webhook_lease SET holder = %(holder)s, until = now() + interval '10 seconds'
 WHERE holder = %(holder)s OR until < now()
"""
END_LEASE = "UPDATE alerts.webhook_lease SET until = now() WHERE holder = %s"
TARGET: LiteralString = f"""
SELECT {CONTENT_COLUMNS}, secret_sealed, former_sealed, former_until, version, replays, position, ping_at
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
# A few at a time, so that it takes no time: as many go as come.
FORGET = """
DELETE FROM alerts.webhook_deliveries WHERE (webhook_id, event_id) IN (
    SELECT webhook_id, event_id FROM alerts.webhook_deliveries
     WHERE webhook_id = %s AND changed_at < %s ORDER BY changed_at, event_id LIMIT 5)
"""
# Where somebody replays meanwhile the position is theirs; what was paused, changed or removed meanwhile is read anew.
ADVANCE: LiteralString = f"""
UPDATE alerts.webhooks SET position = %s
 WHERE webhook_id = %s AND position = %s AND version = %s AND replays = %s AND {ACTIVE}
"""  # noqa: S608 - constants
PINGED = "UPDATE alerts.webhooks SET ping_at = NULL WHERE webhook_id = %s AND ping_at = %s"


class PostgresDeliveries(HeldConnection):
    """Short transactions, one at a time."""

    def __init__(self, dsn: str, unseal: Callable[[bytes], bytes], clock: Callable[[], int]) -> None:
        super().__init__(dsn, "tripline-webhooks", ALL_ACTIVE)
        self._unseal, self._clock = unseal, clock
        self._holder = uuid4().hex
        self._one_at_a_time = threading.Lock()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Cursor[Any]]:
        with self._one_at_a_time, super()._transaction() as cursor:
            yield cursor

    def is_leader(self) -> bool:
        """Whether the lease is this process's; asking renews it."""
        with self._transaction() as cursor:
            return cursor.execute(TAKE_LEASE, {"holder": self._holder}).rowcount == 1

    def active(self) -> Collection[int]:
        """Ids of the webhooks that are told."""
        with self._transaction() as cursor:
            return [webhook_id for (webhook_id,) in cursor.execute(ALL_ACTIVE).fetchall()]

    def target(self, webhook_id: int) -> Target | None:
        """The webhook, where it is active. Raises SecretSealedOtherwise too."""
        with self._transaction() as cursor:
            row = cursor.execute(TARGET, (webhook_id,)).fetchone()
        if row is None:
            return None
        *content, sealed, former_sealed, former_until, version, replays, position, ping_at = row
        try:
            current = self._unseal(bytes(sealed)).decode()
        except ValueError as error:
            raise SecretSealedOtherwise(webhook_id) from error
        former = None if former_sealed is None else self._former(bytes(former_sealed))
        secrets = Secrets(current, former, former_until or 0)
        return Target(
            webhook_id, stored_content(tuple(content)), secrets, version, replays, position, ping_at
        )

    def _former(self, sealed: bytes) -> str | None:
        try:
            return self._unseal(sealed).decode()
        except ValueError:
            return None  # whoever lost the key gives a new secret: the one before it is lost too

    def notices(self, after: int, limit: int) -> Sequence[CaseNotice]:
        """Those behind the position."""
        with self._transaction() as cursor:
            return notices_after(cursor, after, limit)

    def record(
        self, target: Target, message: Message, state: DeliveryState, attempts: int, answer: Answer
    ) -> None:
        """What has come of the message so far."""
        now = self._clock()
        row = (
            target.webhook_id, message.id, message.type, message.position, state, attempts, answer.status,
            answer.error, now,
        )  # fmt: skip
        with self._transaction() as cursor:
            cursor.execute(RECORD, row)
            cursor.execute(FORGET, (target.webhook_id, now - KEPT_MS))

    def advance(self, target: Target, position: int) -> bool:
        """False where the position is no more the target's, or the webhook another one, or not told any more."""
        with self._transaction() as cursor:
            row = (position, target.webhook_id, target.position, target.version, target.replays)
            return cursor.execute(ADVANCE, row).rowcount == 1

    def pinged(self, target: Target) -> None:
        """The test that was asked for is done."""
        with self._transaction() as cursor:
            cursor.execute(PINGED, (target.webhook_id, target.ping_at))

    def hand_over(self) -> None:
        """Let another process deliver at once."""
        with suppress(StoreUnavailable), self._transaction() as cursor:
            cursor.execute(END_LEASE, (self._holder,))
