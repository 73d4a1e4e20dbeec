"""The projector's side of the database: alerts and commands go in, once each, and nothing is ever changed.

What a command marks is the database's own work, whichever of command and alert comes first (migrations 0006 and 0007).
Alerts are folded into episodes and cases in the transaction that stores them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.types.json import Jsonb

from alert_api.adapters.cases.case_fold import (
    Cursor,
    fold_chunk,
    fold_entries,
    is_behind,
    lock_cursor,
    set_policy,
)
from alert_api.adapters.issued_by_registry import IssuedByRegistry
from alert_api.adapters.postgres_errors import translated
from alert_api.adapters.shadows.postgres_shadows import store_shadow_alerts
from alert_api.domain.cases.policy import CasePolicy
from alert_api.errors import StoreUnavailable
from alert_api.service.records import ReceivedAlert, Unreadable
from alert_api.service.void_commands import VoidCommand

KEPT_BYTES = 512 * 1024

# The alert and its first event are one statement: neither can be there without the other. The event's key has an id
# once, whatever partition its alert is in: of an alert that was stored before (the first one wins, detection time
# included), or was there and went with its month, nothing is stored.
# Texts go in binary (%b): as an array's text every quote in an alert would be escaped, ten times the work.
STORE_ALERTS = """
WITH batch AS (
    SELECT * FROM unnest(
        %(alert_ids)s::uuid[], %(rule_ids)s::bigint[], %(rule_versions)s::bigint[], %(groups)b::jsonb[],
        %(event_times)s::bigint[], %(detected_ats)s::bigint[], %(transaction_ids)s::text[],
        %(amounts)s::numeric[], %(contents)b::text[]::json[])
      AS alert (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id, amount, content)
), raised AS (
    INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)
    SELECT alert_id, 1, 'AlertRaised', detected_at FROM batch
    ON CONFLICT DO NOTHING
    RETURNING alert_id, position
), stored AS (
    INSERT INTO alerts.alerts
        (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id, amount, content)
    SELECT batch.* FROM batch JOIN raised USING (alert_id)
)
SELECT alert_id::text, position FROM raised
"""

STORE_VOID = """
INSERT INTO alerts.voided_transactions (command_id, position, occurred_at, actor, transaction_id, event_time)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""

STORE_UNREADABLE = """
INSERT INTO alerts.unreadable_records
    (kafka_topic, kafka_partition, kafka_offset, reason, detail, record_key, record_value, value_length,
     value_sha256)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""


class PostgresIntake:
    """Stores batches over one connection, opened when needed and again after it broke."""

    def __init__(self, dsn: str, policy: CasePolicy | None = None) -> None:
        self._dsn = dsn
        self._policy = policy or CasePolicy()
        self._connection: psycopg.Connection[Any] | None = None
        self._issued = IssuedByRegistry()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def store(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand] = (),
    ) -> int:
        """All or nothing in one transaction, committed on return; gives the number of alerts that were new.

        Raises StoreUnavailable and RecordNotStorable.
        """
        try:
            connection = self._open()
            with connection.transaction(), connection.cursor() as cursor:
                if dead_letters:
                    cursor.executemany(
                        STORE_UNREADABLE, [_unreadable_row(unreadable) for unreadable in dead_letters]
                    )
                shadows = [alert for alert in alerts if alert.is_shadow]
                self._issued.check_shadows(cursor, shadows)
                new = store_shadow_alerts(cursor, shadows)
                alerts = [alert for alert in alerts if not alert.is_shadow]
                # Before everything that others may hold: who stores commands and alerts takes this lock first too.
                folded = self._folded_up(cursor) if alerts else None
                # Before the alerts: who comes with commands locks others out, and who comes with alerts does not.
                if voids:
                    self._issued.check_voids(cursor, voids)
                    cursor.executemany(STORE_VOID, [_void_row(void) for void in voids])
                if folded is None:
                    return new
                self._issued.check_alerts(cursor, alerts)
                first = _first_of_each(alerts)
                stored = cursor.execute(STORE_ALERTS, _columns(first)).fetchall()
                entries = [first[alert_id].facts(position) for alert_id, position in stored]
                if entries:
                    fold_entries(cursor, folded, sorted(entries, key=lambda entry: entry.position))
                return new + len(entries)
        except psycopg.Error as error:
            problem = translated(error)
            if isinstance(problem, StoreUnavailable):
                self._close()
            raise problem from error

    def check(self) -> None:
        """Return if the database can be reached now, on a connection of its own: for other threads."""
        with psycopg.connect(self._dsn, connect_timeout=2) as connection:
            connection.execute("SELECT alert_id FROM alerts.alerts LIMIT 0")

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=5,
                keepalives_idle=10,
                tcp_user_timeout=20_000,
                application_name="tripline-alert-projector",
                options="-c statement_timeout=60s",
            )
            self._catch_up(self._connection)
        return self._connection

    def _catch_up(self, connection: psycopg.Connection[Any]) -> None:
        """Fold what is in the log already, a chunk per transaction: it may be everything, where there were no cases."""
        position = None
        while True:
            with connection.transaction(), connection.cursor() as cursor:
                folded = lock_cursor(cursor)
                if folded.position == position:
                    return
                if position is None:
                    set_policy(cursor, folded, self._policy)
                    folded = lock_cursor(cursor)
                position = folded.position
                fold_chunk(cursor, folded)

    def _folded_up(self, cursor: psycopg.Cursor[Any]) -> Cursor:
        """The cursor at the end of the log, held from here on."""
        folded = lock_cursor(cursor)
        while is_behind(cursor, folded):
            folded = fold_chunk(cursor, folded)
        return folded

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _first_of_each(alerts: Sequence[ReceivedAlert]) -> dict[str, ReceivedAlert]:
    """Ids once each, the earliest record first; in order of id, so that two projectors that store the same alerts wait
    for each other and never in a circle."""
    first: dict[str, ReceivedAlert] = {}
    for alert in alerts:
        first.setdefault(alert.alert_id, alert)
    return {alert_id: first[alert_id] for alert_id in sorted(first)}


def _columns(first: Mapping[str, ReceivedAlert]) -> dict[str, list[Any]]:
    """One array per column."""
    rows = first.values()
    return {
        "alert_ids": [row.alert_id for row in rows],
        "rule_ids": [row.rule_id for row in rows],
        "rule_versions": [row.rule_version for row in rows],
        "groups": [Jsonb(row.group) for row in rows],
        "event_times": [row.event_time for row in rows],
        "detected_ats": [row.detected_at for row in rows],
        "transaction_ids": [row.transaction_id for row in rows],
        "amounts": [row.amount for row in rows],
        "contents": [row.content for row in rows],
    }


def _void_row(void: VoidCommand) -> tuple[Any, ...]:
    return (
        void.command_id,
        void.position,
        void.occurred_at,
        void.actor,
        void.transaction_id,
        void.event_time,
    )


def _unreadable_row(unreadable: Unreadable) -> tuple[Any, ...]:
    record = unreadable.record
    value = record.value or b""
    return (
        record.topic,
        record.partition,
        record.offset,
        unreadable.reason,
        unreadable.detail,
        None if record.key is None else record.key[:KEPT_BYTES],
        None if record.value is None else value[:KEPT_BYTES],
        record.length,
        record.cut.sha256 if record.cut else hashlib.sha256(value).hexdigest(),
    )
