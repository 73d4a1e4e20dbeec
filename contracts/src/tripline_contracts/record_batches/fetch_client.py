"""A client of one broker that fetches record batches as they are stored.

Kafka's Fetch request, version 11: the newest one with topics by name and without tagged fields, known to every broker
since 2.3; from version 10 on brokers hand out zstd as it is.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from tripline_contracts.errors import BrokerSilent, FetchRefused
from tripline_contracts.record_batches.batch import RecordBatch, split

_FETCH, _VERSION, _CLIENT = 1, 11, b"tripline-record-batches"
_REQUEST: Final = struct.Struct(">hhih")
_BEFORE_TOPIC: Final = struct.Struct(">iiiibiiih")
_PARTITION: Final = struct.Struct(">iiiqqi")
_PARTITION_ANSWER: Final = struct.Struct(">ihqqqi")
_ABORTED: Final = struct.Struct(">qq")
_INT: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")
_LONGEST_ANSWER: Final = 1 << 30
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

    def __init__(self, host: str, port: int, seconds: float = 30.0) -> None:
        try:
            self._socket = socket.create_connection((host, port), seconds)
        except OSError as error:
            raise BrokerSilent(f"{host}:{port}: {error}") from error
        self._where, self._sent = f"{host}:{port}", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()

    def fetch(
        self, topic: str, partition: int, offset: int, max_bytes: int, *, committed: bool = False
    ) -> Fetched:
        """The batches from the one with this offset on, at least one unless the partition ends there.

        Raises FetchRefused and UnreadableBatch.

        :param max_bytes: of the answer; a first batch that is longer comes all the same
        :param committed: no further than where Kafka transactions are decided; else to the partition's end
        """
        answer = self._answer(_request(topic, partition, offset, max_bytes, committed=committed))
        try:
            return _fetched(answer, topic, partition, committed=committed)
        except struct.error as error:
            raise BrokerSilent(f"{self._where}: an answer that is too short") from error

    def _answer(self, body: bytes) -> memoryview:
        self._sent += 1
        head = _REQUEST.pack(_FETCH, _VERSION, self._sent, len(_CLIENT)) + _CLIENT
        try:
            self._socket.sendall(_INT.pack(len(head) + len(body)) + head + body)
            (length,) = _INT.unpack(self._received(_INT.size))
            if not _INT.size <= length <= _LONGEST_ANSWER:
                raise BrokerSilent(f"{self._where}: an answer of {length} bytes")
            answer = self._received(length)
        except OSError as error:
            raise BrokerSilent(f"{self._where}: {error}") from error
        if _INT.unpack_from(answer) != (self._sent,):
            raise BrokerSilent(f"{self._where}: the answer to another request")
        return answer[_INT.size :]

    def _received(self, length: int) -> memoryview:
        data = memoryview(bytearray(length))
        position = 0
        while position < length:
            count = self._socket.recv_into(data[position:])
            if not count:
                raise BrokerSilent(f"{self._where}: closed the connection")
            position += count
        return data.toreadonly()


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
