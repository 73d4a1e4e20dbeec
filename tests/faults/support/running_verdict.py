"""How far engines are by their own record of the order, read as they write it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

from tests.e2e.support.kafka_log import reader
from tripline_contracts.kafka.cluster import KafkaCluster

_TOPIC = "engine-order.v1"


class JudgedSoFar:
    """Counts transactions by offsets, so one that was judged again after a kill counts once."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._ends: dict[tuple[str, int], int] = {}

    def by_prefix(self) -> Counter[str]:
        """What each engine has judged until now, by the prefix of its topics."""
        while (message := self._consumer.poll(0)) is not None:
            assert not message.error(), message.error()
            prefix = str(message.topic()).removesuffix(_TOPIC)
            for part in json.loads(message.value() or b"")["transactions"]:
                partition = prefix, part["partition"]
                self._ends[partition] = max(self._ends.get(partition, 0), part["until"])
        counts: Counter[str] = Counter()
        for (prefix, _), end in self._ends.items():
            counts[prefix] += end
        return counts


@contextmanager
def judged_so_far(kafka: str, prefixes: Iterable[str]) -> Iterator[JudgedSoFar]:
    """Of the engines with these prefixes, which have begun at the beginning of their topics."""
    with reader(KafkaCluster(kafka)) as consumer:
        consumer.assign([TopicPartition(prefix + _TOPIC, 0, 0) for prefix in prefixes])
        yield JudgedSoFar(consumer)
