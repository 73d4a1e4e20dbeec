"""A Kafka client that looks at a topic's newest records: in no group, committing nothing."""

from __future__ import annotations

import logging

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tripline_contracts.kafka.cluster import KafkaCluster

WAIT_SECONDS = 2.0
"""For each answer: one is little where all cores are busy, and a page says of a broker that is late that it is away."""


def glancing_consumer(kafka: KafkaCluster, name: str) -> Consumer:
    """A client of that name; close it."""
    return Consumer(
        {
            **kafka.client_config(),
            "group.id": name,  # the client wants one; nothing is ever committed to it
            "client.id": name,
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "fetch.wait.max.ms": 20,
            "allow.auto.create.topics": False,
            "log.connection.close": False,
        },
        logger=logging.getLogger("librdkafka"),
    )


def ends(consumer: Consumer, topic: str) -> dict[int, tuple[int, int]]:
    """Of each partition the first offset that is kept and the one after the last. Raises KafkaException."""
    metadata = consumer.list_topics(topic, timeout=WAIT_SECONDS).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    return {
        number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=WAIT_SECONDS)
        for number in sorted(metadata.partitions)
    }
