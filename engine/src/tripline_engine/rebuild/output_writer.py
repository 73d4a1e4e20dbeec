"""A micro-batch's output to Kafka, as the stream's sink writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from confluent_kafka import KafkaException, Producer

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.errors import KafkaSilent

_SECONDS: Final = 60.0


def emit(kafka: KafkaCluster, prefix: str, records: Iterable[OutRecord]) -> int:
    """Writes the records and returns their number; acknowledged by Kafka when this returns. Raises KafkaSilent."""
    failures: list[str] = []
    producer = Producer(
        {
            **kafka.client_config(),
            "enable.idempotence": True,
            # equal keys to the same partition as Spark's sink
            "partitioner": "murmur2_random",
            # as large as Spark's sink may write
            "message.max.bytes": 1 << 20,
            "log_level": 3,
        }
    )
    count = 0
    for record in records:
        while not _enqueue(producer, prefix, record, failures):
            producer.poll(1.0)
        producer.poll(0)
        count += 1
    left = producer.flush(_SECONDS)
    if left or failures:
        reason: Any = failures[0] if failures else f"not within {_SECONDS:g} s"
        raise KafkaSilent(
            f"{left + len(failures)} of {count} records of the last micro-batch weren't delivered: {reason}"
        )
    return count


def _enqueue(producer: Producer, prefix: str, record: OutRecord, failures: list[str]) -> bool:
    """Hands a record to the producer; False while its queue is full."""
    try:
        producer.produce(
            prefix + record.topic,
            record.value,
            record.key,
            headers=list(record.headers),
            on_delivery=lambda error, _: failures.append(error.str()) if error else None,
        )
    except BufferError:
        return False
    except KafkaException as error:
        raise KafkaSilent(f"a record of the last micro-batch wasn't taken: {error}") from error
    return True
