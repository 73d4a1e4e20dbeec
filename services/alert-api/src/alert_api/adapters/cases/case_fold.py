"""Folding in a transaction: who appends to the log holds the cursor's row, and folds what was appended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from alert_api.adapters.cases.case_log import entries_after
from alert_api.adapters.cases.stored_book import load_book, write_changes
from alert_api.domain.cases.folding import LogEntry, PolicySet
from alert_api.domain.cases.policy import CasePolicy

CHUNK = 2_000
"""Entries that are folded at once where many are behind."""

LOCK_CURSOR = "SELECT position, policy FROM alerts.case_cursor FOR UPDATE"

# Entries that nobody folded: of before there were cases, or of a projector of before. Mostly there are none to look at.
# In order of the index: EXISTS alone would be planned for a hit soon, as a walk through the whole table.
UNFOLDED = """
SELECT (SELECT position FROM alerts.alert_events
         WHERE position > %(position)s AND type = 'AlertRaised' ORDER BY position LIMIT 1) IS NOT NULL
    OR (SELECT position FROM alerts.case_events
         WHERE position > %(position)s ORDER BY position LIMIT 1) IS NOT NULL
    OR EXISTS (SELECT FROM alerts.snooze_requests WHERE snooze_id > %(position)s)
    OR EXISTS (SELECT FROM alerts.snooze_steps WHERE position > %(position)s)
"""

SET_POLICY = """
INSERT INTO alerts.case_events (position, type, occurred_at, policy)
VALUES (CASE WHEN %(first)s THEN 0 ELSE nextval('alerts.alert_events_position_seq') END, 'CasePolicySet',
        extract(epoch FROM now()) * 1000, %(policy)s)
"""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the log is folded, and the policy that holds there; None before the first was set."""

    position: int
    policy: CasePolicy | None


def lock_cursor(cursor: psycopg.Cursor[Any]) -> Cursor:
    """The cursor, held until the transaction ends: positions that are drawn after this follow one another."""
    [(position, policy)] = cursor.execute(LOCK_CURSOR).fetchall()
    return Cursor(position, None if policy is None else CasePolicy.from_json(policy))


def is_behind(cursor: psycopg.Cursor[Any], folded: Cursor) -> bool:
    """Whether the log goes on behind the cursor."""
    [(behind,)] = cursor.execute(UNFOLDED, {"position": folded.position}).fetchall()
    return bool(behind)


def set_policy(cursor: psycopg.Cursor[Any], folded: Cursor, policy: CasePolicy) -> None:
    """Append the policy to the log where it differs; the first one holds from the log's beginning."""
    if folded.policy == policy:
        return
    first = folded.policy is None
    cursor.execute(SET_POLICY, {"first": first, "policy": Jsonb(policy.to_json())})
    if first:
        cursor.execute("UPDATE alerts.case_cursor SET policy = %s", (Jsonb(policy.to_json()),))


def fold_chunk(cursor: psycopg.Cursor[Any], folded: Cursor) -> Cursor:
    """Fold the next entries behind the cursor; gives the same cursor back where there are none."""
    entries = entries_after(cursor, folded.position, CHUNK)
    return fold_entries(cursor, folded, entries) if entries else folded


def fold_entries(cursor: psycopg.Cursor[Any], folded: Cursor, entries: Sequence[LogEntry]) -> Cursor:
    """Fold what follows on the cursor, and move it."""
    book = load_book(cursor, folded.policy or CasePolicy(), entries)
    book.fold(entries)
    write_changes(cursor, book)
    position = entries[-1].position
    if any(isinstance(entry, PolicySet) for entry in entries):
        statement = "UPDATE alerts.case_cursor SET position = %s, policy = %s"
        cursor.execute(statement, (position, Jsonb(book.policy.to_json())))
    else:
        cursor.execute("UPDATE alerts.case_cursor SET position = %s", (position,))
    return Cursor(position, book.policy)
