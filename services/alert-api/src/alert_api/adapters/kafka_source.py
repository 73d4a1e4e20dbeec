"""Some topics as one source of records, with offsets committed by hand."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from alert_api.adapters.stored_backlog import StoredBacklog, stored_backlog
from alert_api.service.records import Record
from tripline_contracts.kafka.cluster import KafkaCluster

log = structlog.get_logger(__name__)

GROUP = "tripline-alert-projector"
BATCH = 500
BATCH_BYTES = 8 << 20
"""Of a stored backlog, one record more at most."""
WAIT_SECONDS = 0.25

ReportLag = Callable[[str, int, int], None]
"""Takes (topic, partition, records)."""


def consumer_settings(kafka: KafkaCluster, group: str) -> dict[str, Any]:
    """The consumer's configuration; automatic commits are off because the database commits first."""
    return {
        **kafka.client_config(),
        "group.id": group,
        "client.id": "tripline-alert-projector",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "session.timeout.ms": 6_000,  # after a kill the partitions wait this long for a successor
        "allow.auto.create.topics": False,
        "topic.metadata.refresh.interval.ms": 5_000,
        "fetch.wait.max.ms": 500,
        "log.connection.close": False,
    }


class KafkaAlertSource:
    """Takes batches from some topics; closing leaves the group at once, not after a timeout."""

    def __init__(
        self, kafka: KafkaCluster, topics: Sequence[str], report_lag: ReportLag, group: str = GROUP
    ) -> None:
        self._kafka = kafka
        self._consumer = Consumer(consumer_settings(kafka, group), logger=logging.getLogger("librdkafka"))
        self._report_lag = report_lag
        self._paused = False
        self._early: list[Message] = []
        self._next: dict[tuple[str, int], int] = {}
        self._backlogs: dict[tuple[str, int], StoredBacklog] = {}
        self._assigned = False
        self._consumer.subscribe(list(topics), on_assign=self._on_assign, on_revoke=self._on_revoke)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    def take(self) -> Sequence[Record]:
        """Up to BATCH records, as soon as there is one; none after WAIT_SECONDS without any."""
        self._resume()
        if self._backlogs:
            return self._noted(self._take_stored())
        messages, self._early = self._early, []
        # consume() alone would wait for a full batch and so delay every alert by its timeout.
        first = self._consumer.poll(0 if messages else WAIT_SECONDS)
        if first is not None:
            messages = [*messages, first, *self._consumer.consume(BATCH - 1, 0)]
        return self._noted([record for message in messages if (record := _record(message)) is not None])

    def _noted(self, records: Sequence[Record]) -> Sequence[Record]:
        for record in records:
            self._next.setdefault((record.topic, record.partition), record.offset)
        return records

    def _take_stored(self) -> Sequence[Record]:
        """Of one backlog, before anything else is handed out: what the client has is kept for later."""
        early = self._consumer.poll(0)  # it keeps the membership too, and may take a partition away
        if early is not None:
            self._early.append(early)
        records: list[Record] = []
        if not self._backlogs:
            return records
        topic_partition, backlog = next(iter(self._backlogs.items()))
        size = 0
        while len(records) < BATCH and size < BATCH_BYTES:
            record = next(backlog.records, None)
            if record is None:
                del self._backlogs[topic_partition]
                break
            records.append(record)
            size += len(record.value or b"")
        return records

    def keep_membership(self) -> None:
        """Poll with every partition paused: the group keeps this member, and no record is handed out.

        A partition that arrives with this very poll is not paused yet; what it gives is kept for later.
        """
        self._consumer.pause(self._consumer.assignment())
        self._paused = True
        early = self._consumer.poll(0)
        if early is not None:
            self._early.append(early)
        self._measure_lag(cached=False)

    def commit(self, records: Sequence[Record]) -> None:
        """Commit the offsets after ``records``. A failure is only logged: the records would come again."""
        after: dict[tuple[str, int], int] = {}
        for record in records:
            topic_partition = (record.topic, record.partition)
            after[topic_partition] = max(after.get(topic_partition, 0), record.offset + 1)
        offsets = [TopicPartition(topic, partition, offset) for (topic, partition), offset in after.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            log.warning("offsets_not_committed", error=str(error))
        self._next |= after
        self._measure_lag(cached=True)

    def check(self) -> None:
        """Return if partitions are assigned; for readiness, from any thread."""
        if not self._assigned:
            raise KafkaException("no partition is assigned to this projector")

    def _resume(self) -> None:
        if self._paused:
            self._consumer.resume(self._consumer.assignment())
            self._paused = False

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._assigned = bool(partitions)
        for partition in partitions:
            try:
                backlog = stored_backlog(self._kafka, consumer, partition.topic, partition.partition)
            except KafkaException as error:
                log.warning(
                    "not_surveyed", topic=partition.topic, partition=partition.partition, error=str(error)
                )
                continue
            if backlog is not None:
                self._backlogs[partition.topic, partition.partition] = backlog
                partition.offset = backlog.until
        if self._backlogs:
            consumer.assign(partitions)

    def _on_revoke(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._assigned = False
        for partition in partitions:
            # Somebody else's from now on: what is left of it is not ours to report.
            self._next.pop((partition.topic, partition.partition), None)
            self._backlogs.pop((partition.topic, partition.partition), None)
            self._report_lag(partition.topic, partition.partition, 0)

    def _measure_lag(self, *, cached: bool) -> None:
        """From the ends seen with the last fetch, or asked for anew: a paused partition fetches nothing."""
        for (topic, partition), offset in self._next.items():
            topic_partition = TopicPartition(topic, partition)
            try:
                _, end = self._consumer.get_watermark_offsets(topic_partition, timeout=1.0, cached=cached)
            except KafkaException as error:
                log.warning("lag_unknown", partition=partition, error=str(error))
            else:
                self._report_lag(topic, partition, max(0, end - offset))


def _record(message: Message) -> Record | None:
    error = message.error()
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if error is None:
        assert topic is not None
        assert partition is not None
        assert offset is not None
        sent = dict(message.headers() or {})
        headers = {name: value for name, value in sent.items() if isinstance(value, bytes)}
        return Record(topic, partition, offset, message.key(), message.value(), headers=headers)
    if error.fatal():
        raise KafkaException(error)
    if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's public name for it
        log.warning("kafka_error", error=str(error))
    return None
