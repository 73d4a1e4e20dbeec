"""Rows of alerts.alerts as values, with what they rest on that was voided and the snooze that covers them."""

from __future__ import annotations

from typing import Any, Final, LiteralString

from alert_api.domain.events import Voiding
from alert_api.service.alert_queries import StoredAlert

ALERT_COLUMNS: Final[LiteralString] = """
    a.alert_id::text, a.event_time, a.rule_id, a.group_values, a.content::text,
    a.acknowledged_by, a.acknowledged_at, a.acknowledgement_comment,
    CASE WHEN a.voided THEN (
        SELECT json_agg(json_build_array(v.transaction_id, v.event_time, v.command_id, v.position) ORDER BY v.position)
          FROM alerts.alert_events voiding JOIN alerts.voided_transactions v USING (command_id)
         WHERE voiding.alert_id = a.alert_id) END,
    (SELECT z.snooze_id FROM alerts.snoozed_alerts z WHERE z.alert_id = a.alert_id)
"""
"""Of `alerts.alerts a`, in the order in which `stored_alert` takes them."""

SELECT_NAMES = """
SELECT asked.rule_id, newest.name
  FROM unnest(%s::bigint[]) AS asked (rule_id), LATERAL (
       SELECT content ->> 'ruleName' AS name FROM alerts.alerts
        WHERE rule_id = asked.rule_id ORDER BY event_time DESC, alert_id LIMIT 1) newest
"""
"""Of rules, by their ids: what each is called in its newest alert."""


def stored_alert(row: tuple[Any, ...], case_id: int | None) -> StoredAlert:
    """The alert that a row of ALERT_COLUMNS is, in that case."""
    alert_id, event_time, rule_id, group, text, actor, acknowledged_at, comment, voidings, snooze_id = row
    voided = tuple(Voiding(*voiding) for voiding in voidings or ())
    return StoredAlert(
        alert_id, event_time, rule_id, group, text, actor, acknowledged_at, comment, voided, snooze_id, case_id,
    )  # fmt: skip
