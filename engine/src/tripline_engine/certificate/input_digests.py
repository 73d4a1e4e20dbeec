"""Digests of what was judged: of each topic, over its records in the recorded order."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.inputs import ReplayBatch
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS


class TopicDigest:
    """SHA-256 over records: partition, offset, record time, value and headers of each, with their lengths."""

    def __init__(self) -> None:
        self._hash, self.count = hashlib.sha256(), 0

    def take(self, records: Iterable[Record]) -> None:
        """Adds records, in this order."""
        for record in records:
            self.count += 1
            self._hash.update(struct.pack("<iqq", record.partition, record.offset, record.timestamp))
            self._add(record.value)
            for name, data in record.headers:
                self._add(name.encode())
                self._add(data)
            self._hash.update(b"\n")

    def add(self, data: bytes) -> None:
        """Adds something that is no record."""
        self.count += 1
        self._add(data)

    def to_json(self) -> dict[str, Any]:
        """As certificates carry it."""
        return {"records": self.count, "sha256": self._hash.hexdigest()}

    def _add(self, data: bytes | None) -> None:
        self._hash.update(struct.pack("<q", -1 if data is None else len(data)))
        self._hash.update(data or b"")


@dataclass(slots=True)
class InputDigests:
    """Of rule events, ticks, transactions, and the order itself.

    :ivar left_out: transactions that nobody has any more, and that no window of the span needs
    """

    topics: dict[str, TopicDigest] = field(
        default_factory=lambda: {name: TopicDigest() for name in (ORDER, RULES, TICKS, TRANSACTIONS)}
    )
    left_out: int = 0

    def take(self, batch: ReplayBatch) -> None:
        """Adds a micro-batch."""
        self.topics[ORDER].add(msgspec.json.encode(batch.recorded.judged()))
        self.topics[RULES].take(batch.rules)
        self.topics[TICKS].take(batch.ticks)
        self.topics[TRANSACTIONS].take(batch.transactions)
        self.left_out += sum(part.until - part.first for part in batch.left_out)

    def to_json(self) -> dict[str, Any]:
        """As certificates carry them."""
        by_topic = {name: digest.to_json() for name, digest in self.topics.items()}
        return {**by_topic, "leftOut": self.left_out}
