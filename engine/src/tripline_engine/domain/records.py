"""What crosses the line between Spark and the engine's domain: payloads in, records out, one state log.

Neither side knows more of the other than this. Spark groups payloads by shard and keeps the state log durable;
the domain turns the payloads of one micro-batch into Kafka records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol

BACKFILL: Final = "backfill"
"""The header that names a record's backfill. The column of that name is null for others, or not there if all are
others; it holds the name until the transaction is let in, and then just true."""


class Kind(IntEnum):
    """What a payload holds. The numbers are stored nowhere: they only live inside one micro-batch."""

    RULE_EVENT = 0
    TICK = 1
    TRANSACTIONS = 2
    PARSE_REJECTS = 3
    PARTITION_RANGE = 4


@dataclass(frozen=True, slots=True)
class Payload:
    """One thing sent to a shard in a micro-batch.

    `position` is the Kafka offset for rule events and ticks, and 0 otherwise. `data` is the raw Kafka value for rule
    events and ticks, an Arrow IPC stream for transactions and parse rejects, JSON for partition ranges.
    """

    kind: Kind
    data: bytes
    position: int


@dataclass(frozen=True, slots=True)
class OutRecord:
    """One Kafka record to write. `topic` is the contract's name, without the prefix of a deployment."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


SEGMENT: Final = "segment/"
"""What the keys of segments of the history begin with."""
BUCKETS: Final = "buckets/"
"""What the keys of runs of buckets begin with."""
LARGE_ONES: Final = (SEGMENT, BUCKETS)
"""Such an entry may be large. Before it is put a second time, it is read in the same micro-batch: whoever keeps it asks
only then where it is, and would have it twice."""


class StateLog(Protocol):
    """The durable state of one shard: a map from text to bytes that changes with its micro-batch or not at all."""

    def get(self, key: str) -> bytes | None: ...

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        """Of each key what ``get`` gives: cheaper than one by one."""

    def put(self, key: str, data: bytes) -> None: ...

    def remove(self, key: str) -> None: ...

    def remove_all(self, keys: Sequence[str]) -> None:
        """What ``remove`` does with each: cheaper than one by one."""
