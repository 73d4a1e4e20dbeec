"""The log that is folded, read in its order: alerts raised, what people did, snoozes, policies set."""

from __future__ import annotations

from typing import Any, Final, LiteralString

import psycopg

from alert_api.adapters.cases.snooze_rows import REQUEST, STEP, stored_event
from alert_api.domain.cases.alert_facts import AlertFacts, measured_of
from alert_api.domain.cases.folding import LogEntry, PolicySet, SnoozeDone, WorkDone
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze_events import SNOOZE_STEPS
from alert_api.domain.cases.work_events import WORK_EVENTS, CaseAssigned, CaseResolved, WorkEvent
from alert_api.domain.events import AlertId
from alert_api.errors import LifecycleBroken

EVENT_COLUMNS: LiteralString = "type, case_id, occurred_at, actor, comment, assignee, outcome"
"""Of `alerts.case_events`, in the order in which `stored_work` takes them."""

SNOOZE_EVENTS: Final = frozenset({"SnoozeRequested", *SNOOZE_STEPS})

# An alert is in its month or, where that went, what is folded of it is kept beside; for a while in both.
SELECT_LOG: LiteralString = f"""
(SELECT e.position, 'AlertRaised', NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL, NULL::jsonb,
        e.alert_id::text, a.rule_id, a.group_values, a.event_time, a.detected_at, a.window_ms, a.measured
   FROM alerts.alert_events e, LATERAL (
        SELECT x.rule_id, x.group_values, x.event_time, x.detected_at,
               (x.content ->> 'windowEnd')::bigint - (x.content ->> 'windowStart')::bigint AS window_ms,
               json_build_object('value', x.content -> 'value', 'operator', x.content -> 'operator',
                                 'limit', x.content -> 'limit') AS measured
          FROM alerts.alerts x WHERE x.alert_id = e.alert_id
         UNION ALL
        SELECT p.rule_id, p.group_values, p.event_time, p.detected_at, p.window_ms, p.measured
          FROM alerts.past_alerts p WHERE p.alert_id = e.alert_id
         LIMIT 1) a
  WHERE e.type = 'AlertRaised' AND e.position > %(after)s ORDER BY e.position LIMIT %(limit)s)
UNION ALL
(SELECT position, {EVENT_COLUMNS}, policy, NULL, NULL, NULL, NULL, NULL, NULL, NULL
   FROM alerts.case_events WHERE position > %(after)s ORDER BY position LIMIT %(limit)s)
UNION ALL
(SELECT r.snooze_id, 'SnoozeRequested', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        {REQUEST}
   FROM alerts.snooze_requests r WHERE r.snooze_id > %(after)s ORDER BY r.snooze_id LIMIT %(limit)s)
UNION ALL
(SELECT s.position, s.type, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        {STEP}
   FROM alerts.snooze_steps s WHERE s.position > %(after)s ORDER BY s.position LIMIT %(limit)s)
ORDER BY 1 LIMIT %(limit)s
"""  # noqa: S608 - constants


def entries_after(cursor: psycopg.Cursor[Any], after: int, limit: int) -> list[LogEntry]:
    """At most ``limit`` entries behind the position ``after``."""
    rows = cursor.execute(SELECT_LOG, {"after": after, "limit": limit}).fetchall()
    return [_entry(*row) for row in rows]


def _entry(position: int, kind: str, *rest: Any) -> LogEntry:
    work, policy, alert = rest[:6], rest[6], rest[7:]
    if kind == "AlertRaised":
        alert_id, rule_id, group, event_time, detected_at, window_ms, content = alert
        measured = measured_of(content)
        return AlertFacts(
            position, AlertId(alert_id), rule_id, group, event_time, detected_at, window_ms, measured
        )
    if kind in SNOOZE_EVENTS:
        return SnoozeDone(position, stored_event(kind, alert[-1]))
    if kind == "CasePolicySet":
        return PolicySet(position, CasePolicy.from_json(policy))
    return WorkDone(position, stored_work(kind, *work))


def stored_work(
    kind: str,
    case_id: int,
    occurred_at: int,
    actor: str,
    comment: str | None,
    assignee: str | None,
    outcome: Any,
) -> WorkEvent:
    """The event that a row of EVENT_COLUMNS is."""
    event = WORK_EVENTS.get(kind)
    if event is None:
        raise LifecycleBroken(f"case {case_id} has an event {kind!r} that this program does not know")
    if event is CaseAssigned and assignee is not None:
        return CaseAssigned(
            case_id=case_id, occurred_at=occurred_at, actor=actor, comment=comment, assignee=assignee
        )
    if event is CaseResolved:
        return CaseResolved(
            case_id=case_id, occurred_at=occurred_at, actor=actor, comment=comment, outcome=outcome
        )
    return event(case_id=case_id, occurred_at=occurred_at, actor=actor, comment=comment)  # type: ignore[call-arg]
