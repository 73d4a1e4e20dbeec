"""``SnoozeDesk`` over the API's pool: what is decided is appended while the log's end is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, LiteralString

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from alert_api.adapters.cases.log_end import LogEnd, at_the_end_of_the_log
from alert_api.adapters.cases.snooze_rows import LAST_POSITION, SNOOZE_COLUMNS, stored_snooze
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze import Snooze
from alert_api.domain.cases.snooze_commands import (
    RequestSnooze,
    SnoozeCommand,
    SnoozePolicy,
    decide_request,
    decide_step,
)
from alert_api.domain.cases.snooze_events import SnoozeRequested, SnoozeStep
from alert_api.errors import KeyReused, SnoozeNotFound, SnoozeNotPossible, StaleSnooze
from alert_api.service.cases.case_work import Origin

SELECT_SNOOZE: Final[LiteralString] = f"""
SELECT {SNOOZE_COLUMNS} FROM alerts.snooze_requests r WHERE r.snooze_id = %(snooze_id)s
"""  # noqa: S608 - constants

SELECT_REQUEST_BEFORE = """
SELECT request_hash, snooze_id FROM alerts.snooze_requests WHERE actor = %s AND idempotency_key = %s
"""

SELECT_STEP_BEFORE = """
SELECT request_hash, snooze_id FROM alerts.snooze_steps
 WHERE actor = %s AND snooze_id = %s AND idempotency_key = %s
"""

APPEND_REQUEST = """
INSERT INTO alerts.snooze_requests
    (occurred_at, actor, rule_id, subject_field, subject_value, group_values, until, expires_at, reason, four_eyes,
     content_hash, request_id, idempotency_key, request_hash)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
RETURNING snooze_id
"""

APPEND_STEP = """
INSERT INTO alerts.snooze_steps
    (snooze_id, version, type, occurred_at, actor, reason, requested_by, content_hash, request_id, idempotency_key,
     request_hash)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
RETURNING position
"""


class PostgresSnoozeDesk:
    """Takes requests and decisions in; raises StoreUnavailable."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], policy: SnoozePolicy) -> None:
        self._pool = pool
        self._policy = policy

    @property
    def four_eyes(self) -> bool:
        return self._policy.four_eyes

    def request(self, command: RequestSnooze, origin: Origin) -> int:
        """Take a request in; gives the snooze's id. Raises SnoozeNotPossible and KeyReused."""
        with at_the_end_of_the_log(self._pool) as end:
            known = _repeated(end, SELECT_REQUEST_BEFORE, (command.actor,), origin)
            if known is not None:
                return known
            _check_subject(command, end.policy or CasePolicy())
            event = decide_request(command, self._policy)
            [(snooze_id,)] = end.cursor.execute(APPEND_REQUEST, _request_row(event, origin)).fetchall()
            end.advance(snooze_id)
            return int(snooze_id)

    def step(
        self, snooze_id: int, command: SnoozeCommand, expects: Callable[[int], bool], origin: Origin
    ) -> None:
        """Do it, where ``expects`` takes the snooze's version.

        Raises SnoozeNotFound, StaleSnooze, SnoozeStateConflict, SecondPersonNeeded, AnotherContent and KeyReused.
        """
        with at_the_end_of_the_log(self._pool) as end:
            values = {"snooze_id": snooze_id, "before": LAST_POSITION}
            rows = end.cursor.execute(SELECT_SNOOZE, values).fetchall()
            if not rows:
                raise SnoozeNotFound(snooze_id)
            snooze = stored_snooze(*rows[0])
            if _repeated(end, SELECT_STEP_BEFORE, (command.actor, snooze_id), origin) is not None:
                return
            if not expects(snooze.version):
                raise StaleSnooze(snooze_id, snooze.version)
            event = decide_step(snooze, command)
            [(position,)] = end.cursor.execute(APPEND_STEP, _step_row(event, snooze, origin)).fetchall()
            end.advance(position)


def _repeated(end: LogEnd, query: LiteralString, of: tuple[Any, ...], origin: Origin) -> int | None:
    """The snooze of an earlier request with the same key, if there was one."""
    if origin.key is None:
        return None
    rows = end.cursor.execute(query, (*of, origin.key)).fetchall()
    if not rows:
        return None
    [(request_hash, snooze_id)] = rows
    if request_hash != origin.request_hash:
        raise KeyReused
    return int(snooze_id)


def _check_subject(command: RequestSnooze, policy: CasePolicy) -> None:
    """A snooze about what no case is about would cover nothing."""
    subject = command.scope.subject
    if subject is not None and subject[0] not in policy.subject_fields:
        fields = ", ".join(policy.subject_fields) or "none is set"
        raise SnoozeNotPossible("subject.field", f"expected a field that cases are about: {fields}")


def _request_row(event: SnoozeRequested, origin: Origin) -> tuple[Any, ...]:
    scope = event.scope
    return (
        event.occurred_at,
        event.actor,
        scope.rule_id,
        *(scope.subject or (None, None)),
        None if scope.group is None else Jsonb(dict(scope.group)),
        event.until,
        event.expires_at,
        event.reason,
        event.four_eyes,
        event.content_hash,
        origin.request_id,
        origin.key,
        origin.request_hash,
    )


def _step_row(event: SnoozeStep, snooze: Snooze, origin: Origin) -> tuple[Any, ...]:
    return (
        event.snooze_id,
        snooze.version + 1,
        type(event).__name__,
        event.occurred_at,
        event.actor,
        event.reason,
        snooze.request.actor,
        event.content_hash,
        origin.request_id,
        origin.key,
        origin.request_hash,
    )
