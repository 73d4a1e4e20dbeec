"""Snoozes as callers see them."""

from __future__ import annotations

from typing import Any

from alert_api.domain.cases.snooze_events import SnoozeApproved, SnoozeStep
from alert_api.service.snoozes.snooze_queries import StoredSnooze


def snooze_json(stored: StoredSnooze, now: int) -> dict[str, Any]:
    """A snooze as it stands at `now`, with what it suppressed."""
    snooze = stored.snooze
    request, decision = snooze.request, snooze.decision
    kind = "approved" if isinstance(decision, SnoozeApproved) else "rejected"
    return {
        "snoozeId": snooze.snooze_id,
        "version": snooze.version,
        "state": snooze.state(now),
        **request.scope.to_json(),
        "ruleName": stored.rule_name,
        "until": request.until,
        "expiresAt": request.expires_at,
        "reason": request.reason,
        "fourEyes": request.four_eyes,
        "contentHash": request.content_hash,
        "requestedBy": request.actor,
        "requestedAt": request.occurred_at,
        "decision": None if decision is None else {"type": kind, **_step_json(decision)},
        "ended": None if snooze.end is None else _step_json(snooze.end),
        "alertCount": stored.alerts,
        "firstEventTime": stored.first,
        "lastEventTime": stored.last,
    }


def _step_json(step: SnoozeStep) -> dict[str, Any]:
    return {"actor": step.actor, "occurredAt": step.occurred_at, "reason": step.reason}
