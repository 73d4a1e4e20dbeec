"""A client of one broker that fetches record batches as they are stored.

Kafka's Fetch request, version 11: the newest one with topics by name and without tagged fields, known to every broker
since 2.3; from version 10 on brokers hand out zstd as it is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from tripline_contracts.errors import BrokerSilent, FetchRefused
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.batch import RecordBatch, split
from tripline_contracts.record_batches.broker_connection import BrokerConnection

_FETCH, _VERSION = 1, 11
_BEFORE_TOPIC: Final = struct.Struct(">iiiibiiih")
_PARTITION: Final = struct.Struct(">iiiqqi")
_PARTITION_ANSWER: Final = struct.Struct(">ihqqqi")
_ABORTED: Final = struct.Struct(">qq")
_INT: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")
OFFSET_OUT_OF_RANGE: Final = 1
"""The code of an offset that the partition does not have, or no longer."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Whole batches from the asked offset on, the first one perhaps from before it; `end` is the partition's."""

    batches: list[RecordBatch]
    end: int
    aborted: list[tuple[int, int]]


class FetchClient:
    """One connection. To be closed. Raises BrokerSilent where the broker does not answer."""

    def __init__(self, cluster: KafkaCluster, host: str, port: int, seconds: float = 30.0) -> None:
        self._connection, self._where = BrokerConnection(cluster, host, port, seconds), f"{host}:{port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def fetch(
        self, topic: str, partition: int, offset: int, max_bytes: int, *, committed: bool = False
    ) -> Fetched:
        """The batches from the one with this offset on, at least one unless the partition ends there.

        Raises FetchRefused and UnreadableBatch.

        :param max_bytes: of the answer; a first batch that is longer comes all the same
        :param committed: no further than where Kafka transactions are decided; else to the partition's end
        """
        body = _request(topic, partition, offset, max_bytes, committed=committed)
        answer = self._connection.request(_FETCH, _VERSION, body)
        try:
            return _fetched(answer, topic, partition, committed=committed)
        except struct.error as error:
            raise BrokerSilent(f"{self._where}: an answer that is too short") from error


def _request(topic: str, partition: int, offset: int, max_bytes: int, *, committed: bool) -> bytes:
    name = topic.encode()
    # no replica; an answer at once, empty or not; no session; one topic
    before = _BEFORE_TOPIC.pack(-1, 0, 1, max_bytes, int(committed), 0, -1, 1, len(name))
    # one partition, any leader epoch, no offset of a follower; nothing to forget; no rack
    asked = _PARTITION.pack(1, partition, -1, offset, -1, max_bytes)
    return before + name + asked + _INT.pack(0) + _SHORT.pack(0)


def _fetched(answer: memoryview, topic: str, partition: int, *, committed: bool) -> Fetched:
    _throttled, code, _session, topics = struct.unpack_from(">ihii", answer)
    if code or topics != 1:
        raise FetchRefused(topic, partition, code)
    position = 14
    (name,) = _SHORT.unpack_from(answer, position)
    position += _SHORT.size + name + _INT.size  # of its partitions there is one
    _, code, end, stable, _, aborted = _PARTITION_ANSWER.unpack_from(answer, position)
    if code:
        raise FetchRefused(topic, partition, code)
    position += _PARTITION_ANSWER.size
    marks = [_ABORTED.unpack_from(answer, position + n * _ABORTED.size) for n in range(max(0, aborted))]
    position += len(marks) * _ABORTED.size + _INT.size  # no replica is preferred
    (length,) = _INT.unpack_from(answer, position)
    position += _INT.size
    batches = list(split(answer[position : position + max(0, length)]))
    return Fetched(batches, stable if committed else end, [(int(p), int(first)) for p, first in marks])
