"""What a filter of alerts says of their rows."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from alert_api.service.alert_queries import AlertFilter, Place

# Looked up for each alert that is looked at, and never joined with all that are snoozed: a page looks at few.
SNOOZED: LiteralString = (
    "(SELECT z.snooze_id FROM alerts.snoozed_alerts z WHERE z.alert_id = a.alert_id LIMIT 1) IS NOT NULL"
)
NOT_SNOOZED: LiteralString = SNOOZED.replace("IS NOT NULL", "IS NULL")
OF_SNOOZE: LiteralString = SNOOZED.replace("IS NOT NULL", "= %(snooze_id)s")
IN_GROUP: LiteralString = "group_values @> %(group)s"
OF_RULE: LiteralString = "rule_id = %(rule_id)s"
OF_RULES: LiteralString = "rule_id = ANY (%(rule_ids)s::bigint[])"
OF_TRANSACTION: LiteralString = "transaction_id = %(transaction_id)s"
AT_LEAST: LiteralString = "amount >= %(min_amount)s"
AT_MOST: LiteralString = "amount <= %(max_amount)s"
DETECTED_FROM: LiteralString = "detected_at >= %(detected_from)s"
DETECTED_TO: LiteralString = "detected_at <= %(detected_to)s"

STATES: dict[str, LiteralString] = {
    "open": "acknowledged_at IS NULL",
    "acknowledged": "acknowledged_at IS NOT NULL",
}


def times(alert_filter: AlertFilter, after: Place | None) -> tuple[list[LiteralString], dict[str, Any]]:
    """Conditions on the place in the list, and their values: what every index of alerts has the order of."""
    conditions: list[LiteralString] = []
    values: dict[str, Any] = {}
    if alert_filter.earliest is not None:
        conditions.append("event_time >= %(earliest)s")
        values["earliest"] = alert_filter.earliest
    if alert_filter.latest is not None:
        conditions.append("event_time <= %(latest)s")
        values["latest"] = alert_filter.latest
    if after is not None:
        conditions.append("event_time <= %(after_time)s")
        conditions.append("(event_time < %(after_time)s OR alert_id > %(after_id)s::uuid)")
        values |= {"after_time": after.event_time, "after_id": after.alert_id}
    return conditions, values


def others(alert_filter: AlertFilter) -> tuple[list[LiteralString], dict[str, Any]]:
    """Conditions of `alerts.alerts a` and their values: all but times, severity and what is about cases."""
    chosen: tuple[tuple[LiteralString, str, Any], ...] = (
        ("rule_version = %(rule_version)s", "rule_version", alert_filter.rule_version),
        (OF_TRANSACTION, "transaction_id", alert_filter.transaction_id),
        (OF_SNOOZE, "snooze_id", alert_filter.snooze_id),
        (DETECTED_FROM, "detected_from", alert_filter.detected_from),
        (DETECTED_TO, "detected_to", alert_filter.detected_to),
        (AT_LEAST, "min_amount", alert_filter.min_amount),
        (AT_MOST, "max_amount", alert_filter.max_amount),
    )
    conditions = [condition for condition, _, value in chosen if value is not None]
    values = {name: value for _, name, value in chosen if value is not None}
    if alert_filter.rule_ids:
        conditions.append(OF_RULE if len(alert_filter.rule_ids) == 1 else OF_RULES)
        values |= {"rule_id": alert_filter.rule_ids[0], "rule_ids": list(alert_filter.rule_ids)}
    if alert_filter.state is not None:
        conditions.append(STATES[alert_filter.state])
    if alert_filter.voided is not None:
        conditions.append("voided" if alert_filter.voided else "NOT voided")
    if alert_filter.snoozed is not None:
        conditions.append(SNOOZED if alert_filter.snoozed else NOT_SNOOZED)
    if alert_filter.group:
        # A field asked for with two values matches nothing; merged into one object, the last would win.
        fields = set(alert_filter.group)
        merged = dict(fields)
        conditions.append(IN_GROUP if len(merged) == len(fields) else "false")
        values["group"] = Jsonb(merged)
    return conditions, values


def alert_conditions(
    alert_filter: AlertFilter, after: Place | None
) -> tuple[list[LiteralString], dict[str, Any]]:
    """All of them."""
    timed, time_values = times(alert_filter, after)
    conditions, values = others(alert_filter)
    return [*conditions, *timed], {**values, **time_values}


def where(conditions: list[LiteralString]) -> LiteralString:
    """All of them, as a WHERE."""
    return " WHERE " + " AND ".join(conditions) if conditions else ""
