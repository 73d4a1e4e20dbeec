"""Webhooks, their deliveries and their history as callers see them."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, jsonify

from alert_api.domain.webhooks.reach import only_host
from alert_api.domain.webhooks.webhook import Delivery, Webhook, WebhookStep
from tripline_http.auth import current_scopes
from tripline_http.etags import etag_of

SEE_URLS: Final = frozenset({"controls:write", "rules:approve"})
"""Who holds one of these sees whole URLs: those of some receivers let in whoever knows them."""


def webhook_answer(webhook: Webhook, status: int = 200) -> Response:
    """It with its version as ETag."""
    response = jsonify(webhook_json(webhook))
    response.status_code = status
    response.headers["ETag"] = etag_of(webhook.version)
    return response


def webhook_json(webhook: Webhook) -> dict[str, Any]:
    """A webhook, without its secret."""
    content = webhook.content
    return {
        "webhookId": webhook.webhook_id,
        "name": content.name,
        "url": _shown(content.url),
        "template": content.template,
        "eventTypes": list(content.types),
        "minSeverity": content.min_severity,
        "ruleIds": list(content.rule_ids),
        "subjects": list(content.subjects),
        "state": webhook.state,
        "version": webhook.version,
        "contentHash": content.hash,
        "requestedBy": webhook.requested_by,
        "requestedAt": webhook.requested_at,
        "approvedBy": webhook.approved_by,
        "approvedAt": webhook.approved_at,
        "pausedBy": webhook.paused_by,
        "pausedAt": webhook.paused_at,
        "position": webhook.position,
        "formerSecretUntil": webhook.former_until,
        "deadCount": webhook.dead,
        "lastDelivery": None if webhook.last is None else delivery_json(webhook.last),
    }


def delivery_json(delivery: Delivery) -> dict[str, Any]:
    """What came of one notice."""
    return {
        "eventId": delivery.event_id,
        "type": delivery.type,
        "position": delivery.position,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "status": delivery.status,
        "error": delivery.error,
        "changedAt": delivery.changed_at,
    }


def step_json(step: WebhookStep) -> dict[str, Any]:
    """What somebody did."""
    return {
        "stepId": step.step_id,
        "webhookId": step.webhook_id,
        "type": step.type,
        "actor": step.actor,
        "occurredAt": step.occurred_at,
        "version": step.version,
        "detail": {name: _shown(value) if name == "url" else value for name, value in step.detail.items()},
    }


def _shown(url: str) -> str:
    return url if current_scopes() & SEE_URLS else only_host(url)
