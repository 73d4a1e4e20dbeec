"""Rejected records for the process that brings them in, and sends again what was corrected."""

from __future__ import annotations

from collections.abc import Sequence

from alert_api.adapters.postgres_errors import HeldConnection
from alert_api.domain.rejected_records import Delivery, RecordPlace
from alert_api.service.rejected.reading import ReceivedReject
from alert_api.service.rejected.redrive import Correction

STORE = """
INSERT INTO alerts.rejected_records
    (kafka_topic, kafka_partition, kafka_offset, reason, detail, value_length, value_sha256, record_value, rejected_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""
QUEUED = """
SELECT d.position, d.kafka_partition, d.kafka_offset, d.sent_value, d.backfill_id::text
  FROM alerts.rejected_record_decisions d
  LEFT JOIN alerts.rejected_record_deliveries s USING (position)
 WHERE d.kind = 'sendAgain' AND s.position IS NULL
 ORDER BY d.position LIMIT %s
"""
DELIVERED = """
INSERT INTO alerts.rejected_record_deliveries (position, kafka_partition, kafka_offset, delivered_at)
VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""


class PostgresRedrive(HeldConnection):
    """``RedriveStore`` over one connection, opened when needed and again after it broke."""

    def __init__(self, dsn: str) -> None:
        super().__init__(
            dsn, "tripline-redrive", "SELECT position FROM alerts.rejected_record_deliveries LIMIT 0"
        )

    def store(self, rejects: Sequence[ReceivedReject]) -> int:
        """All or nothing; gives the number that were new."""
        rows = [
            (
                reject.topic, reject.place.partition, reject.place.offset, reject.cause, reject.detail,
                reject.length, reject.sha256, reject.value, reject.rejected_at,
            )
            for reject in rejects
        ]  # fmt: skip
        with self._transaction() as cursor:
            cursor.executemany(STORE, rows)
            return cursor.rowcount

    def queued(self, limit: int) -> Sequence[Correction]:
        """The oldest decisions whose record was not sent yet."""
        with self._transaction() as cursor:
            rows = cursor.execute(QUEUED, [limit]).fetchall()
        return [
            Correction(position, RecordPlace(partition, offset), value, backfill)
            for position, partition, offset, value, backfill in rows
        ]

    def delivered(self, deliveries: Sequence[tuple[Correction, Delivery]]) -> None:
        """These were."""
        rows = [
            (correction.position, delivery.place.partition, delivery.place.offset, delivery.delivered_at)
            for correction, delivery in deliveries
        ]
        with self._transaction() as cursor:
            cursor.executemany(DELIVERED, rows)
