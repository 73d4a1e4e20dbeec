"""Rows of snoozes as values, and those that matter to a batch of the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString

import psycopg

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.folding import LogEntry, SnoozeDone, Suppressed
from alert_api.domain.cases.snooze import Silence, Snooze, after
from alert_api.domain.cases.snooze_events import SNOOZE_STEPS, SnoozeEvent, SnoozeRequested, SnoozeStep
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.errors import LifecycleBroken

# As JSON, so that requests and steps are columns of the log alike.
REQUEST: Final[LiteralString] = """
    json_build_object('occurred_at', r.occurred_at, 'actor', r.actor, 'rule_id', r.rule_id,
        'subject_field', r.subject_field, 'subject_value', r.subject_value, 'group_values', r.group_values,
        'until', r.until, 'expires_at', r.expires_at, 'reason', r.reason, 'four_eyes', r.four_eyes,
        'content_hash', r.content_hash)
"""
"""Of `alerts.snooze_requests r`."""

STEP: Final[LiteralString] = """
    json_build_object('snooze_id', s.snooze_id, 'occurred_at', s.occurred_at, 'actor', s.actor, 'reason', s.reason,
        'content_hash', s.content_hash)
"""
"""Of `alerts.snooze_steps s`; its type stands beside it."""

SNOOZE_COLUMNS: Final[LiteralString] = f"""
    r.snooze_id, {REQUEST},
    (SELECT json_agg(json_build_array(s.type, {STEP}) ORDER BY s.position)
       FROM alerts.snooze_steps s WHERE s.snooze_id = r.snooze_id AND s.position < %(before)s)
"""  # noqa: S608 - constants
"""A snooze as it is before a position, in the order in which `stored_snooze` takes it."""

SELECT_SNOOZES: Final[LiteralString] = f"""
SELECT {SNOOZE_COLUMNS} FROM alerts.snooze_requests r
 WHERE r.snooze_id < %(before)s AND (r.expires_at > %(detected_at)s OR r.snooze_id = ANY (%(stepped)s::bigint[]))
 ORDER BY r.snooze_id
"""  # noqa: S608 - constants

STORE_SUPPRESSED = """
INSERT INTO alerts.snoozed_alerts (alert_id, snooze_id, event_time)
SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[])
"""

STORE_COUNTS = """
INSERT INTO alerts.snooze_counts AS c (snooze_id, alerts, first, last)
SELECT snooze_id, count(*), min(event_time), max(event_time)
  FROM unnest(%s::bigint[], %s::bigint[]) AS batch (snooze_id, event_time) GROUP BY snooze_id ORDER BY snooze_id
ON CONFLICT (snooze_id) DO UPDATE
   SET alerts = c.alerts + excluded.alerts, first = least(c.first, excluded.first),
       last = greatest(c.last, excluded.last)
"""

LAST_POSITION: Final = 2**63 - 1
NEVER: Final = 2**63 - 1


def stored_snooze(snooze_id: int, request: Mapping[str, Any], steps: Iterable[Any] | None) -> Snooze:
    """The snooze that a row of SNOOZE_COLUMNS is."""
    snooze = Snooze(snooze_id, stored_request(request))
    for kind, members in steps or ():
        snooze = after(snooze, stored_step(kind, members))
    return snooze


def stored_request(row: Mapping[str, Any]) -> SnoozeRequested:
    """The event that a REQUEST is."""
    members = dict(row)
    field, value = members.pop("subject_field"), members.pop("subject_value")
    subject = None if field is None else (field, value)
    scope = SnoozeScope(members.pop("rule_id"), subject, members.pop("group_values"))
    return SnoozeRequested(scope=scope, **members)


def stored_step(kind: str, members: Mapping[str, Any]) -> SnoozeStep:
    """The event that a type and a STEP are."""
    step = SNOOZE_STEPS.get(kind)
    if step is None:
        raise LifecycleBroken(f"a snooze has an event {kind!r} that this program does not know")
    return step(**members)


def stored_event(kind: str, members: Mapping[str, Any]) -> SnoozeEvent:
    """The event that a type and its members are."""
    return stored_request(members) if kind == "SnoozeRequested" else stored_step(kind, members)


def load_silence(cursor: psycopg.Cursor[Any], entries: Sequence[LogEntry]) -> Silence:
    """The snoozes of before these entries that bear on them, as they are there."""
    stepped = [
        entry.event.snooze_id
        for entry in entries
        if isinstance(entry, SnoozeDone) and not isinstance(entry.event, SnoozeRequested)
    ]
    detected = [entry.detected_at for entry in entries if isinstance(entry, AlertFacts)]
    if not stepped and not detected:
        return Silence()
    bounds = {
        "before": entries[0].position,
        "detected_at": min(detected, default=NEVER),
        "stepped": stepped,
    }
    rows = cursor.execute(SELECT_SNOOZES, bounds).fetchall()
    return Silence(stored_snooze(*row) for row in rows)


def store_suppressed(cursor: psycopg.Cursor[Any], suppressed: Sequence[Suppressed]) -> None:
    """Mark these alerts, and count them."""
    if not suppressed:
        return
    alert_ids = [entry.alert.alert_id for entry in suppressed]
    snooze_ids = [entry.snooze_id for entry in suppressed]
    times = [entry.alert.event_time for entry in suppressed]
    cursor.execute(STORE_SUPPRESSED, (alert_ids, snooze_ids, times))
    cursor.execute(STORE_COUNTS, (snooze_ids, times))
