"""``CaseDesk`` over the API's pool: a command is decided, appended and folded while the cursor is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.cases.case_conditions import case_conditions
from alert_api.adapters.cases.case_rows import CASE_COLUMNS, stored_case
from alert_api.adapters.cases.log_end import LogEnd, at_the_end_of_the_log
from alert_api.domain.cases.case import Case, evolve
from alert_api.domain.cases.due import DuePolicy
from alert_api.domain.cases.work import Command, Reopen, decide
from alert_api.domain.cases.work_events import CaseAssigned, CaseResolved, WorkEvent
from alert_api.errors import CaseNotFound, CountChanged, KeyReused, StaleCase
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import MOST_AT_ONCE, Origin

SELECT_CASE: LiteralString = f"SELECT {CASE_COLUMNS} FROM alerts.cases c"  # noqa: S608 - constants

SELECT_UNRESOLVED = "SELECT case_id FROM alerts.cases WHERE subject_key = %s AND state <> 'resolved'"

SELECT_BEFORE = """
SELECT request_hash FROM alerts.case_events WHERE actor = %s AND case_id = %s AND idempotency_key = %s
"""

APPEND = """
INSERT INTO alerts.case_events
    (type, case_id, version, occurred_at, actor, comment, assignee, outcome, request_id, idempotency_key, request_hash)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
RETURNING position
"""

UPDATE_CASE = """
UPDATE alerts.cases
   SET state = %s, version = %s, changed_at = %s, active_since = %s, active_at = %s, acknowledged_by = %s,
       acknowledged_at = %s, assignee = %s, outcome = %s, resolved_by = %s, resolved_at = %s
 WHERE case_id = %s
"""


class PostgresCaseDesk:
    """Takes people's work in; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], due: DuePolicy | None = None) -> None:
        self._pool = pool
        self._due = due or DuePolicy({})

    def work(self, case_id: int, command: Command, expects: Callable[[int], bool], origin: Origin) -> None:
        """Do it, where ``expects`` takes the case's version.

        Raises CaseNotFound, StaleCase, CaseStateConflict, CaseInTheWay and KeyReused.
        """
        with at_the_end_of_the_log(self._pool) as end:
            cursor = end.cursor
            rows = cursor.execute(SELECT_CASE + " WHERE c.case_id = %s", (case_id,)).fetchall()
            if not rows:
                raise CaseNotFound(case_id)
            case = stored_case(rows[0])
            if origin.key is not None and _is_repeated(cursor, case_id, command.actor, origin):
                return
            if not expects(case.version):
                raise StaleCase(case_id, case.version)
            _do(end, case, command, origin)

    def work_on_all(self, case_filter: CaseFilter, expected: int, command: Command, origin: Origin) -> int:
        """Do it with all cases of the filter, or with none; gives the number of those that were not so already.

        Raises CountChanged where they are not as many as expected, and CaseStateConflict.
        """
        where, values = case_conditions(case_filter, self._due)
        with at_the_end_of_the_log(self._pool) as end:
            query = SELECT_CASE + where + " ORDER BY c.case_id LIMIT %(most)s"
            rows = end.cursor.execute(query, {**values, "most": MOST_AT_ONCE + 1}).fetchall()
            if len(rows) != expected:
                raise CountChanged(expected, len(rows))
            return sum(_do(end, stored_case(row), command, origin) for row in rows)


def _is_repeated(cursor: psycopg.Cursor[Any], case_id: int, actor: str, origin: Origin) -> bool:
    rows = cursor.execute(SELECT_BEFORE, (actor, case_id, origin.key)).fetchall()
    if rows and rows[0][0] != origin.request_hash:
        raise KeyReused
    return bool(rows)


def _do(end: LogEnd, case: Case, command: Command, origin: Origin) -> bool:
    """Append and fold; False where the case is so already."""
    cursor = end.cursor
    unresolved = None
    if isinstance(command, Reopen):
        rows = cursor.execute(SELECT_UNRESOLVED, (case.subject.key,)).fetchall()
        unresolved = rows[0][0] if rows else None
    event = decide(case, command, unresolved)
    if event is None:
        return False
    [(position,)] = cursor.execute(APPEND, _event_row(event, case.version + 1, origin)).fetchall()
    after = evolve(case, event, position)
    changed = (
        after.state,
        after.version,
        after.changed_at,
        after.active_since,
        after.active_at,
        after.acknowledged_by,
        after.acknowledged_at,
        after.assignee,
        after.outcome,
        after.resolved_by,
        after.resolved_at,
        after.case_id,
    )
    cursor.execute(UPDATE_CASE, changed)
    end.advance(position)
    return True


def _event_row(event: WorkEvent, version: int, origin: Origin) -> tuple[Any, ...]:
    return (
        type(event).__name__,
        event.case_id,
        version,
        event.occurred_at,
        event.actor,
        event.comment,
        event.assignee if isinstance(event, CaseAssigned) else None,
        event.outcome if isinstance(event, CaseResolved) else None,
        origin.request_id,
        origin.key,
        origin.request_hash,
    )
