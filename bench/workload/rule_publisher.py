"""Rule events laid in rules.v1 by nobody but the benchmark, where no registry runs."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Producer

from bench.retained import published
from bench.workload.rules import Version
from tripline_contracts.event_type import EventType
from tripline_contracts.event_type_loader import load
from tripline_contracts.kafka.cluster import KafkaCluster


def publish(kafka: KafkaCluster, versions: Sequence[Version], event_type: EventType | None = None) -> None:
    """First versions of rules, in order; of the event type that ships if none is named."""
    producer = Producer({**kafka.client_config()})
    for position, version in enumerate(versions, start=1):
        body = version.subject.body(version.limit, version.effective_from)
        declared = event_type or load("transaction")
        event = published(version.subject.rule_id, body, event_type=declared, position=position)
        producer.produce("rules.v1", event.data, partition=0)
    producer.flush(60)
