"""Rows of webhooks and deliveries as values."""

from __future__ import annotations

from typing import Any, Final, LiteralString

from alert_api.domain.webhooks.webhook import Delivery, Webhook, WebhookContent

WEBHOOK_COLUMNS: Final[LiteralString] = """
    webhook_id, name, url, template, event_types, four_eyes, requested_by, requested_at, approved_by, approved_at,
    position
"""
ACTIVE: Final[LiteralString] = "removed_at IS NULL AND (approved_by IS NOT NULL OR NOT four_eyes)"
DELIVERY_COLUMNS: Final[LiteralString] = (
    "event_id, type, position, state, attempts, last_status, last_error, changed_at"
)


def stored_webhook(row: tuple[Any, ...]) -> Webhook:
    """Of WEBHOOK_COLUMNS."""
    webhook_id, name, url, template, types, *rest = row
    return Webhook(webhook_id, WebhookContent(name, url, template, tuple(types)), *rest)


def stored_delivery(row: tuple[Any, ...]) -> Delivery:
    """Of DELIVERY_COLUMNS."""
    return Delivery(*row)
