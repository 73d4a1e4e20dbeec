"""Rows of webhooks, deliveries and steps as values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, LiteralString

from alert_api.domain.webhooks.webhook import Delivery, Webhook, WebhookContent, WebhookStep

CONTENT_COLUMNS: Final[LiteralString] = "name, url, template, event_types, min_severity, rule_ids, subjects"
WEBHOOK_COLUMNS: Final[LiteralString] = f"""
    webhook_id, {CONTENT_COLUMNS}, version, four_eyes, requested_by, requested_at, approved_by, approved_at, paused_by,
    paused_at, position, former_until
"""
ACTIVE: Final[LiteralString] = (
    "removed_at IS NULL AND paused_at IS NULL AND (approved_by IS NOT NULL OR NOT four_eyes)"
)
DELIVERY_COLUMNS: Final[LiteralString] = (
    "event_id, type, position, state, attempts, last_status, last_error, changed_at"
)
STEP_COLUMNS: Final[LiteralString] = "step_id, webhook_id, type, actor, occurred_at, version, detail"
_CONTENT: Final = 7
_DELIVERY: Final = 8


def stored_content(row: tuple[Any, ...]) -> WebhookContent:
    """Of CONTENT_COLUMNS."""
    name, url, template, types, min_severity, rule_ids, subjects = row
    return WebhookContent(name, url, template, tuple(types), min_severity, tuple(rule_ids), tuple(subjects))


def stored_webhook(row: tuple[Any, ...]) -> Webhook:
    """Of WEBHOOK_COLUMNS, the number of dead letters, and DELIVERY_COLUMNS of the last delivery, or nulls."""
    webhook_id, content, rest = row[0], row[1 : 1 + _CONTENT], row[1 + _CONTENT : -_DELIVERY]
    last = row[-_DELIVERY:]
    webhook = Webhook(webhook_id, stored_content(content), *rest)
    return webhook if last[0] is None else replace(webhook, last=stored_delivery(last))


def stored_delivery(row: tuple[Any, ...]) -> Delivery:
    """Of DELIVERY_COLUMNS."""
    return Delivery(*row)


def stored_step(row: tuple[Any, ...]) -> WebhookStep:
    """Of STEP_COLUMNS."""
    return WebhookStep(*row)
