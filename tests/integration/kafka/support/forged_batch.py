"""A record batch under a producer id of one's choice, which no client library sends."""

from __future__ import annotations

import struct
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.broker_connection import BrokerConnection

_PRODUCE, _VERSION = 0, 7  # the newest one without tagged fields is 8, whose answer says more
_TRANSACTIONAL: Final = 0x10


@dataclass(frozen=True, slots=True)
class ForgedBatch:
    """One record `{}`, as the producer with this id would number it."""

    producer: int
    epoch: int = 0
    sequence: int = 0
    is_transactional: bool = False

    def encoded(self) -> bytes:
        """Message format 2: what the checksum covers begins at the attributes."""
        value, now = b"{}", time.time_ns() // 1_000_000
        # attributes, time and offset deltas 0, no key, the value, no headers; numbers in zigzag
        record = bytes([0, 0, 0, 1, len(value) * 2]) + value + b"\0"
        covered = struct.pack(
            ">hiqqqhii", _TRANSACTIONAL * self.is_transactional, 0, now, now, self.producer, self.epoch,
            self.sequence, 1,
        ) + bytes([len(record) * 2]) + record  # fmt: skip
        behind_length = struct.pack(">ibI", 0, 2, _crc32c(covered)) + covered
        return struct.pack(">qi", 0, len(behind_length)) + behind_length


def send(cluster: KafkaCluster, topic: str, batch: ForgedBatch, transactional_id: str | None = None) -> int:
    """The code that the broker answers with; 0 where it took the batch."""
    host, _, port = cluster.servers.partition(":")
    records = batch.encoded()
    body = (
        _text(transactional_id)
        + struct.pack(">hii", -1, 10_000, 1)  # all replicas confirm; milliseconds; one topic
        + _text(topic)
        + struct.pack(">iii", 1, 0, len(records))  # one partition, number 0
        + records
    )
    with closing(BrokerConnection(cluster, host, int(port))) as connection:
        answer = connection.request(_PRODUCE, _VERSION, body)
    # number of topics, the topic's name, number of partitions, the partition, the code
    (code,) = struct.unpack_from(">h", answer, 4 + 2 + len(topic.encode()) + 4 + 4)
    return int(code)


def _text(value: str | None) -> bytes:
    if value is None:
        return struct.pack(">h", -1)
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _crc32c(data: bytes) -> int:
    """Castagnoli's polynomial, bit by bit: batches here are short."""
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x82F63B78 if checksum & 1 else 0)
    return checksum ^ 0xFFFFFFFF
