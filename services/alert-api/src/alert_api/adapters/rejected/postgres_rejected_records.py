"""Rejected records for people: listed, counted, looked at, and decided about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_errors import pooled
from alert_api.domain.rejected_records import Decision, Delivery, RecordPlace
from alert_api.service.rejected.desk import (
    AfterRecord,
    RejectedCount,
    RejectedFilter,
    RejectedPage,
    RejectedRecord,
)

# A record may have been sent to correct another one: then that one's delivery names this place.
SELECT: LiteralString = """
SELECT r.kafka_partition, r.kafka_offset, r.reason, r.detail, r.value_length, r.value_sha256, r.rejected_at, {value},
       d.kind, d.actor, d.reason, d.decided_at, {sent}, d.backfill_id::text,
       s.kafka_partition, s.kafka_offset, s.delivered_at, c.kafka_partition, c.kafka_offset
  FROM {records} r
  LEFT JOIN alerts.rejected_record_decisions d USING (kafka_topic, kafka_partition, kafka_offset)
  LEFT JOIN alerts.rejected_record_deliveries s ON s.position = d.position
  LEFT JOIN LATERAL (
      SELECT b.kafka_partition, b.kafka_offset
        FROM alerts.rejected_record_deliveries a JOIN alerts.rejected_record_decisions b USING (position)
       WHERE (a.kafka_partition, a.kafka_offset) = (r.kafka_partition, r.kafka_offset)
         AND b.kafka_topic = r.kafka_topic
       ORDER BY a.position LIMIT 1) c ON true
"""
PAGE: LiteralString = """(
    SELECT * FROM alerts.rejected_records WHERE {where}
     ORDER BY rejected_at DESC, kafka_partition, kafka_offset LIMIT %(rows)s)"""
ORDER_OF_PAGE: LiteralString = " ORDER BY r.rejected_at DESC, r.kafka_partition, r.kafka_offset"
COUNT = """
SELECT reason, state, count(*), min(rejected_at), max(rejected_at) FROM alerts.rejected_records
 WHERE kafka_topic = %s GROUP BY reason, state ORDER BY reason, state
"""
# The primary key decides a race: who comes second stores nothing and is told so.
DECIDE = """
INSERT INTO alerts.rejected_record_decisions
    (kafka_topic, kafka_partition, kafka_offset, kind, actor, reason, decided_at, sent_value, backfill_id)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""


class PostgresRejectedRecords:
    """``RejectedRecords`` of one topic over the API's pool."""

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], topic: str) -> None:
        self._pool, self._topic = pool, topic

    def page(self, record_filter: RejectedFilter, after: AfterRecord | None, limit: int) -> RejectedPage:
        """At most ``limit`` records after ``after``, newest first, without their values."""
        where, values = _conditions(record_filter, after)
        # The page first: what is joined to it is then joined for so many rows.
        query = SELECT.format(value="NULL", sent="NULL", records=PAGE.format(where=where)) + ORDER_OF_PAGE
        rows = self._fetch(query, {**values, "topic": self._topic, "rows": limit + 1})
        records_read = tuple(_record(row) for row in rows[:limit])
        following = None
        if len(rows) > limit:
            following = AfterRecord(records_read[-1].rejected_at, records_read[-1].place)
        return RejectedPage(records_read, following)

    def get(self, record_place: RecordPlace) -> RejectedRecord | None:
        """One record with its value."""
        query = SELECT.format(
            value="r.record_value", sent="d.sent_value", records="alerts.rejected_records"
        ) + (
            " WHERE (r.kafka_topic, r.kafka_partition, r.kafka_offset) = (%(topic)s, %(partition)s, %(offset)s)"
        )
        values = {"topic": self._topic, "partition": record_place.partition, "offset": record_place.offset}
        rows = self._fetch(query, values)
        return _record(rows[0]) if rows else None

    def counts(self) -> Sequence[RejectedCount]:
        """By cause and state."""
        return [RejectedCount(*row) for row in self._fetch(COUNT, [self._topic])]

    def decide(self, record_place: RecordPlace, decision: Decision) -> bool:
        """False where the record has a decision."""
        row = (
            self._topic, record_place.partition, record_place.offset, decision.kind, decision.actor, decision.reason,
            decision.decided_at, decision.value, decision.backfill,
        )  # fmt: skip
        with pooled(self._pool) as connection:
            return connection.execute(DECIDE, row).rowcount == 1

    def _fetch(self, query: LiteralString, values: dict[str, Any] | list[Any]) -> list[tuple[Any, ...]]:
        with pooled(self._pool) as connection:
            return connection.execute(query, values).fetchall()


def _conditions(
    record_filter: RejectedFilter, after: AfterRecord | None
) -> tuple[LiteralString, dict[str, Any]]:
    conditions: list[LiteralString] = ["kafka_topic = %(topic)s"]
    values: dict[str, Any] = {}
    compared: tuple[tuple[LiteralString, str, object], ...] = (
        ("reason = %(cause)s", "cause", record_filter.cause),
        ("state = %(state)s", "state", record_filter.state),
        ("rejected_at >= %(earliest)s", "earliest", record_filter.earliest),
        ("rejected_at <= %(latest)s", "latest", record_filter.latest),
    )
    for condition, name, value in compared:
        if value is not None:
            conditions.append(condition)
            values[name] = value
    if after is not None:
        conditions.append("rejected_at <= %(after_time)s")
        conditions.append(
            "(rejected_at < %(after_time)s"
            " OR (kafka_partition, kafka_offset) > (%(after_partition)s, %(after_offset)s))"
        )
        values |= {
            "after_time": after.rejected_at,
            "after_partition": after.place.partition,
            "after_offset": after.place.offset,
        }
    return " AND ".join(conditions), values


def _record(row: tuple[Any, ...]) -> RejectedRecord:
    partition, offset, cause, detail, length, sha256, rejected_at, value, *more = row
    kind, actor, reason, decided_at, sent, backfill, to_partition, to_offset, delivered_at, *corrects = more
    return RejectedRecord(
        place=RecordPlace(partition, offset),
        cause=cause,
        detail=detail,
        length=length,
        sha256=sha256,
        rejected_at=rejected_at,
        value=value,
        decision=None if kind is None else Decision(kind, actor, reason, decided_at, sent, backfill),
        delivery=None
        if delivered_at is None
        else Delivery(RecordPlace(to_partition, to_offset), delivered_at),
        corrects=None if corrects[0] is None else RecordPlace(*corrects),
    )
