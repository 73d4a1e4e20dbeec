"""A partition read batch by batch, as it is stored, from whichever broker leads it; and a survey of its batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from tripline_contracts.errors import BrokerSilent, FetchRefused
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.batch import RecordBatch
from tripline_contracts.record_batches.fetch_client import OFFSET_OUT_OF_RANGE, FetchClient, Fetched
from tripline_contracts.record_batches.records import StoredRecord, records
from tripline_contracts.record_batches.unfolding import is_longer

_PAUSE_SECONDS: Final = 0.2
_FETCH_BYTES: Final = 4 << 20

_LATEST: Final = (2**63 - 1) // 1000
"""In ms: Spark has microseconds in 64 bits, and its source ends at a record with a time beyond them."""
LARGE_BATCH_BYTES: Final = 8 << 20
"""A record batch that unfolds to more than this is not for a client library. No batch of ours comes near it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Of one partition: how far it was looked at, and where the last large batch ends; None without one."""

    until: int
    large_until: int | None
    large: int


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """One partition of one topic.

    :ivar leader: gives host and port of the broker that leads it now, and may raise BrokerSilent
    :ivar committed: without records of Kafka transactions that were aborted or are not decided
    :ivar seconds: without a batch, after which a broker counts as silent
    """

    cluster: KafkaCluster
    topic: str
    partition: int
    leader: Callable[[], tuple[str, int]]
    committed: bool = False
    seconds: float = 30.0

    def batches(self, start: int, until: int) -> Iterator[RecordBatch]:
        """The batches that hold offsets of [start, until); `until` no further than the end.

        Raises BrokerSilent, UnreadableBatch, and FetchRefused where the offsets are not there.
        """
        position, deadline = start, self._deadline()
        while position < until:
            try:
                with closing(FetchClient(self.cluster, *self.leader(), self.seconds)) as client:
                    for batch, is_visible in self._from_leader(client, position, until):
                        position = batch.until
                        if is_visible:
                            yield batch
                        # from here: whoever reads may have taken hours over the batch
                        deadline = self._deadline()
                return
            except FetchRefused as error:
                if error.code == OFFSET_OUT_OF_RANGE or time.monotonic() > deadline:
                    raise
            except BrokerSilent:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def records(self, start: int, until: int, keep: int) -> Iterator[StoredRecord]:
        """The records with offsets in [start, until), as `records.records` has them. Raises as `batches` does."""
        for batch in self.batches(start, until):
            for record in records(batch, keep):
                if start <= record.offset < until:
                    yield record

    def survey(self, start: int, at_least: int, until: int, max_bytes: int) -> Survey:
        """Looks for batches that no client library should be given, in [start, until). Raises as `batches` does.

        They unfold to more than LARGE_BATCH_BYTES, or have a time that Spark cannot hold.

        Ends when it has gone through `max_bytes` beyond `at_least`, as they are stored.
        """
        position, large_until, large, size = start, None, 0, 0
        for batch in self.batches(start, until):
            if position >= at_least:
                if size >= max_bytes:
                    return Survey(position, large_until, large)
                size += len(batch.body)
            position = batch.until
            if is_longer(batch, LARGE_BATCH_BYTES) or _is_out_of_time(batch):
                large_until, large = batch.until, large + 1
        return Survey(max(position, until), large_until, large)

    def _from_leader(
        self, client: FetchClient, position: int, until: int
    ) -> Iterator[tuple[RecordBatch, bool]]:
        """From one broker, until the end."""
        while position < until:
            fetched = client.fetch(
                self.topic, self.partition, position, _FETCH_BYTES, committed=self.committed
            )
            if not fetched.batches and self.committed and fetched.end <= position:
                return  # what follows is not decided yet
            if not fetched.batches:
                raise BrokerSilent(
                    f"{self.topic} partition {self.partition}: nothing from offset {position} on"
                )
            for batch, is_visible in _decided(fetched):
                if batch.until > position and batch.first < until:
                    position = batch.until
                    yield batch, is_visible

    def _deadline(self) -> float:
        return time.monotonic() + self.seconds


def _decided(fetched: Fetched) -> Iterator[tuple[RecordBatch, bool]]:
    """Each batch, and whether it is of no aborted transaction."""
    aborted, open_producers = sorted(fetched.aborted, key=lambda mark: mark[1]), set[int]()
    for batch in fetched.batches:
        while aborted and aborted[0][1] < batch.until:
            open_producers.add(aborted.pop(0)[0])
        if batch.is_control:
            open_producers.discard(batch.producer)
        yield batch, not (batch.is_transactional and batch.producer in open_producers)


def leader_of(metadata: Any, topic: str, partition: int) -> tuple[str, int]:
    """Host and port of the broker that hands out the partition's records. Raises BrokerSilent while there is none.

    :param metadata: of the cluster, as confluent_kafka's `list_topics` gives it
    """
    known = metadata.topics[topic].partitions.get(partition)
    broker = metadata.brokers.get(known.leader) if known else None
    if broker is None:
        raise BrokerSilent(f"{topic} partition {partition}: has no leader")
    return broker.host, broker.port


def _is_out_of_time(batch: RecordBatch) -> bool:
    return batch.append_time is None and not (
        -_LATEST <= batch.base_time <= _LATEST and -_LATEST <= batch.max_time <= _LATEST
    )
