"""What a filter of alerts says of their rows."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from alert_api.service.alert_queries import AlertFilter, Place

SNOOZED: LiteralString = "EXISTS (SELECT FROM alerts.snoozed_alerts z WHERE z.alert_id = a.alert_id)"
OF_SNOOZE: LiteralString = (
    "(a.event_time, a.alert_id) IN ("
    "SELECT z.event_time, z.alert_id FROM alerts.snoozed_alerts z WHERE z.snooze_id = %(snooze_id)s)"
)

STATES: dict[str, LiteralString] = {
    "open": "acknowledged_at IS NULL",
    "acknowledged": "acknowledged_at IS NOT NULL",
}


def alert_conditions(
    alert_filter: AlertFilter, after: Place | None
) -> tuple[list[LiteralString], dict[str, Any]]:
    """Conditions of `alerts.alerts a`, and their values: all of the filter but severity and what is about cases."""
    chosen: tuple[tuple[LiteralString, str, Any], ...] = (
        ("rule_version = %(rule_version)s", "rule_version", alert_filter.rule_version),
        ("transaction_id = %(transaction_id)s", "transaction_id", alert_filter.transaction_id),
        (OF_SNOOZE, "snooze_id", alert_filter.snooze_id),
        ("event_time >= %(earliest)s", "earliest", alert_filter.earliest),
        ("event_time <= %(latest)s", "latest", alert_filter.latest),
        ("detected_at >= %(detected_from)s", "detected_from", alert_filter.detected_from),
        ("detected_at <= %(detected_to)s", "detected_to", alert_filter.detected_to),
        ("amount >= %(min_amount)s", "min_amount", alert_filter.min_amount),
        ("amount <= %(max_amount)s", "max_amount", alert_filter.max_amount),
    )
    conditions = [condition for condition, _, value in chosen if value is not None]
    values = {name: value for _, name, value in chosen if value is not None}
    if alert_filter.rule_ids:
        # Of one rule the index has the order too.
        conditions.append(
            "rule_id = %(rule_id)s"
            if len(alert_filter.rule_ids) == 1
            else "rule_id = ANY (%(rule_ids)s::bigint[])"
        )
        values |= {"rule_id": alert_filter.rule_ids[0], "rule_ids": list(alert_filter.rule_ids)}
    if alert_filter.state is not None:
        conditions.append(STATES[alert_filter.state])
    if alert_filter.voided is not None:
        conditions.append("voided" if alert_filter.voided else "NOT voided")
    if alert_filter.snoozed is not None:
        conditions.append(SNOOZED if alert_filter.snoozed else "NOT " + SNOOZED)
    if alert_filter.group:
        # A field asked for with two values matches nothing; merged into one object, the last would win.
        fields = set(alert_filter.group)
        merged = dict(fields)
        conditions.append("group_values @> %(group)s" if len(merged) == len(fields) else "false")
        values["group"] = Jsonb(merged)
    if after is not None:
        conditions.append("event_time <= %(after_time)s")
        conditions.append("(event_time < %(after_time)s OR alert_id > %(after_id)s::uuid)")
        values |= {"after_time": after.event_time, "after_id": after.alert_id}
    return conditions, values


def where(conditions: list[LiteralString]) -> LiteralString:
    """All of them, as a WHERE."""
    return " WHERE " + " AND ".join(conditions) if conditions else ""
