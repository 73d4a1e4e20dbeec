"""``WebhookStore`` over the API's pool. It writes secrets and cannot read them.

Whatever changes a webhook writes the step of its history in the same statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.adapters.webhooks.webhook_rows import (
    ACTIVE,
    CONTENT_COLUMNS,
    DELIVERY_COLUMNS,
    STEP_COLUMNS,
    WEBHOOK_COLUMNS,
    stored_delivery,
    stored_step,
    stored_webhook,
)
from alert_api.domain.webhooks.message import PING
from alert_api.domain.webhooks.webhook import MOST_DEAD, DeliveryState, StepType, Webhook, WebhookContent
from alert_api.errors import RecordNotStorable
from alert_api.service.webhooks.webhook_desk import MOST, DeliveryPage, StepPage

SELECT: LiteralString = f"""
SELECT w.*, dead.count, last.*
  FROM (SELECT {WEBHOOK_COLUMNS} FROM alerts.webhooks WHERE removed_at IS NULL) w
 CROSS JOIN LATERAL (
       SELECT count(*) FROM (
              SELECT FROM alerts.webhook_deliveries d
               WHERE d.webhook_id = w.webhook_id AND d.state = 'dead' AND d.type <> '{PING}'
               LIMIT {MOST_DEAD}) counted) dead
  LEFT JOIN LATERAL (
       SELECT {DELIVERY_COLUMNS} FROM alerts.webhook_deliveries d WHERE d.webhook_id = w.webhook_id
        ORDER BY changed_at DESC, event_id DESC LIMIT 1) last ON true
"""  # noqa: S608 - constants

# It begins where the log ends: what has been is told by a replay.
ADD: LiteralString = f"""
INSERT INTO alerts.webhooks
    ({CONTENT_COLUMNS}, secret_sealed, content_hash, four_eyes, requested_by, requested_at, position)
SELECT %(name)s, %(url)s, %(template)s, %(types)s::text[], %(min_severity)s, %(rule_ids)s::bigint[],
       %(subjects)s::text[], %(sealed)s, %(hash)s, %(four_eyes)s, %(actor)s, %(now)s, c.position
  FROM alerts.case_cursor c
 WHERE (SELECT count(*) FROM alerts.webhooks WHERE removed_at IS NULL) < %(most)s
ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
CHANGE: LiteralString = f"""
UPDATE alerts.webhooks w
   SET ({CONTENT_COLUMNS})
       = (%(name)s, %(url)s, %(template)s, %(types)s::text[], %(min_severity)s, %(rule_ids)s::bigint[],
          %(subjects)s::text[]),
       content_hash = %(hash)s, version = version + 1, requested_by = %(actor)s, requested_at = %(now)s,
       approved_by = NULL, approved_at = NULL{{more}}
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL AND version = %(version)s
   AND NOT EXISTS (SELECT FROM alerts.webhooks o
                    WHERE o.name = %(name)s AND o.removed_at IS NULL AND o.webhook_id <> w.webhook_id)
"""  # noqa: S608 - constants
# To keep what it has takes no right to read it.
CHANGE_CONTENT: LiteralString = CHANGE.format(more="")
CHANGE_SECRET: LiteralString = CHANGE.format(more=", secret_sealed = %(sealed)s")
# The database keeps the secret of before beside the new one: the API has no right to read it.
ROTATE: LiteralString = """
SELECT webhook_id, version FROM alerts.rotate_webhook_secret(%(webhook)s, %(version)s, %(sealed)s, %(until)s)
"""
APPROVE = """
UPDATE alerts.webhooks SET approved_by = %(actor)s, approved_at = %(now)s
 WHERE webhook_id = %(webhook)s AND approved_by IS NULL AND removed_at IS NULL AND requested_by <> %(actor)s
   AND content_hash = %(hash)s
"""
PAUSE = """
UPDATE alerts.webhooks SET paused_by = %(actor)s, paused_at = %(now)s
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL AND paused_by IS NULL
"""
RESUME = """
UPDATE alerts.webhooks SET paused_by = NULL, paused_at = NULL
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL AND paused_by IS NOT NULL
"""
REMOVE = """
UPDATE alerts.webhooks SET removed_by = %(actor)s, removed_at = %(now)s
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL
"""
TEST: LiteralString = f"""
UPDATE alerts.webhooks SET ping_at = %(now)s WHERE webhook_id = %(webhook)s AND {ACTIVE}
"""  # noqa: S608 - constants
# The log's order is that of positions, not quite that of times: so the last one before the first that is late enough.
# Never beyond the log's end: what comes next would be left out in silence.
REPLAY = """
UPDATE alerts.webhooks
   SET replays = replays + 1,
       position = least((SELECT c.position FROM alerts.case_cursor c), coalesce(%(position)s::bigint, (
        SELECT min(position) - 1 FROM (
            SELECT position FROM alerts.case_openings WHERE occurred_at >= %(instant)s
            UNION ALL
            SELECT position FROM alerts.case_events WHERE occurred_at >= %(instant)s AND position > 0) AS later),
        position))
 WHERE webhook_id = %(webhook)s AND removed_at IS NULL
"""
DELIVERIES: LiteralString = f"""
SELECT {DELIVERY_COLUMNS} FROM alerts.webhook_deliveries
 WHERE webhook_id = %(webhook)s AND (%(state)s::text IS NULL OR state = %(state)s)
   AND (%(changed)s::bigint IS NULL OR (changed_at, event_id) < (%(changed)s, %(event)s))
 ORDER BY changed_at DESC, event_id DESC LIMIT %(limit)s
"""  # noqa: S608 - constants
STEPS: LiteralString = f"""
SELECT {STEP_COLUMNS} FROM alerts.webhook_steps
 WHERE (%(webhook)s::bigint IS NULL OR webhook_id = %(webhook)s)
   AND (%(before)s::bigint IS NULL OR step_id < %(before)s)
 ORDER BY step_id DESC LIMIT %(limit)s
"""  # noqa: S608 - constants


class PostgresWebhooks:
    """The API's side of webhooks."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self._pool = pool

    def all(self) -> Sequence[Webhook]:
        """Those that nobody removed, by name."""
        with pooled(self._pool) as connection:
            return [stored_webhook(row) for row in connection.execute(SELECT + " ORDER BY w.name").fetchall()]

    def get(self, webhook_id: int) -> Webhook | None:
        """One of them."""
        with pooled(self._pool) as connection:
            row = connection.execute(SELECT + " WHERE w.webhook_id = %s", (webhook_id,)).fetchone()
        return None if row is None else stored_webhook(row)

    def add(
        self, content: WebhookContent, sealed: bytes, actor: str, now: int, *, four_eyes: bool
    ) -> int | None:
        """At the log's end; None where the name is taken, or there are too many."""
        values = {**_of(content), "sealed": sealed, "four_eyes": four_eyes, "most": MOST}
        return self._do(ADD, "WebhookRequested", actor, now, content.as_json(), values)

    def change(
        self, before: Webhook, content: WebhookContent, sealed: bytes | None, actor: str, now: int
    ) -> bool:
        """False where it is another one by now, or the name is taken. Without a secret it keeps the one that it has."""
        values = {
            **_of(content), "webhook": before.webhook_id, "version": before.version, "sealed": sealed,
        }  # fmt: skip
        detail = {**content.as_json(), "secretChanged": sealed is not None}
        try:
            statement = CHANGE_CONTENT if sealed is None else CHANGE_SECRET
            return self._do(statement, "WebhookChanged", actor, now, detail, values) is not None
        except RecordNotStorable:
            return False  # of two that take one name at once the second

    def approve(self, webhook_id: int, content_hash: str, actor: str, now: int) -> bool:
        """False where somebody did, it is their own, or it is another one by now."""
        values = {"webhook": webhook_id, "hash": content_hash}
        detail = {"contentHash": content_hash}
        return self._do(APPROVE, "WebhookApproved", actor, now, detail, values) is not None

    def rotate(self, before: Webhook, sealed: bytes, until: int, actor: str, now: int) -> bool:
        """False where it is another one by now."""
        values = {
            "webhook": before.webhook_id, "version": before.version, "sealed": sealed, "until": until,
        }  # fmt: skip
        return (
            self._do(ROTATE, "WebhookSecretRotated", actor, now, {"formerUntil": until}, values) is not None
        )

    def pause(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where it is paused, or not there."""
        return self._do(PAUSE, "WebhookPaused", actor, now, {}, {"webhook": webhook_id}) is not None

    def resume(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where it is not paused, or not there."""
        return self._do(RESUME, "WebhookResumed", actor, now, {}, {"webhook": webhook_id}) is not None

    def remove(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where it is not there."""
        return self._do(REMOVE, "WebhookRemoved", actor, now, {}, {"webhook": webhook_id}) is not None

    def ask_for_ping(self, webhook_id: int, actor: str, now: int) -> bool:
        """False where it is not active."""
        return self._do(TEST, "WebhookTested", actor, now, {}, {"webhook": webhook_id}) is not None

    def replay(
        self, webhook_id: int, position: int | None, instant: int | None, actor: str, now: int
    ) -> bool:
        """False where it is not there."""
        values = {"webhook": webhook_id, "position": position, "instant": instant}
        detail = {"from": instant} if position is None else {"afterPosition": position}
        return self._do(REPLAY, "WebhookReplayed", actor, now, detail, values) is not None

    def deliveries(
        self, webhook_id: int, state: DeliveryState | None, before: tuple[int, str] | None, limit: int
    ) -> DeliveryPage:
        """Those that changed last first."""
        changed, event = before or (None, None)
        values = {
            "webhook": webhook_id, "state": state, "changed": changed, "event": event, "limit": limit + 1,
        }  # fmt: skip
        with pooled(self._pool) as connection:
            rows = connection.execute(DELIVERIES, values).fetchall()
        deliveries = [stored_delivery(row) for row in rows[:limit]]
        last = deliveries[-1] if len(rows) > limit else None
        return DeliveryPage(deliveries, None if last is None else (last.changed_at, last.event_id))

    def steps(self, webhook_id: int | None, before: int | None, limit: int) -> StepPage:
        """What people did, the newest first; of all webhooks, removed ones too, where none is named."""
        values = {"webhook": webhook_id, "before": before, "limit": limit + 1}
        with pooled(self._pool) as connection:
            rows = connection.execute(STEPS, values).fetchall()
        steps = [stored_step(row) for row in rows[:limit]]
        return StepPage(steps, steps[-1].step_id if len(rows) > limit else None)

    def _do(
        self,
        statement: LiteralString,
        step: StepType,
        actor: str,
        now: int,
        detail: Mapping[str, Any],
        values: Mapping[str, Any],
    ) -> int | None:
        """The webhook that the statement changed, None where it changed none, which is no step either."""
        returning: LiteralString = "" if statement is ROTATE else " RETURNING webhook_id, version"
        whole: LiteralString = f"""
            WITH done AS ({statement}{returning})
            INSERT INTO alerts.webhook_steps (webhook_id, type, actor, occurred_at, version, detail)
            SELECT webhook_id, %(step)s, %(actor)s, %(now)s, version, %(detail)s FROM done RETURNING webhook_id
        """  # noqa: S608 - constants
        given = {**values, "step": step, "actor": actor, "now": now, "detail": Jsonb(dict(detail))}
        with pooled(self._pool) as connection:
            row = connection.execute(whole, given).fetchone()
        return None if row is None else int(row[0])


def _of(content: WebhookContent) -> dict[str, Any]:
    return {
        "name": content.name, "url": content.url, "template": content.template, "types": list(content.types),
        "min_severity": content.min_severity, "rule_ids": list(content.rule_ids),
        "subjects": list(content.subjects), "hash": content.hash,
    }  # fmt: skip
