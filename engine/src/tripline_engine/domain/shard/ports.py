"""The ports between Spark and the engine's domain: payloads in, records out.

Neither side knows more of the other than this. Spark groups payloads by shard and keeps the state log durable;
the domain turns the payloads of one micro-batch into Kafka records.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import pyarrow as pa


class Kind(IntEnum):
    """Kinds of payloads. The numbers are stored nowhere: they only live inside one micro-batch."""

    RULE_EVENT = 0
    TICK = 1
    TRANSACTIONS = 2
    PARSE_REJECTS = 3
    PARTITION_RANGE = 4


@dataclass(frozen=True, slots=True)
class Payload:
    """One thing sent to a shard in a micro-batch.

    `position` is the Kafka offset for rule events and ticks, and 0 otherwise. `data` is the raw Kafka value for rule
    events, `tick.tick_payload` for ticks, an Arrow IPC stream for transactions and parse rejects, JSON for partition
    ranges. Transactions that this process has as columns already are in `rows`, as in the stream, and `data` is empty.
    """

    kind: Kind
    data: bytes
    position: int
    rows: pa.RecordBatch | None = None


OCCASIONS: Final = "occasions"
"""Where a topic would be named, of an `Occasion`: it is told to whoever asked for it, and not written."""


@dataclass(frozen=True, slots=True)
class OutRecord:
    """One Kafka record to write. `topic` is the contract's name, without the prefix of a deployment."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...]
