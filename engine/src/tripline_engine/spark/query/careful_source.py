"""A Kafka source for what Spark's own cannot read: record batches that unfold to more than a heap holds.

Reads ranges of offsets from the broker as they are stored, in Python workers with bounded memory; of a value that is
too long it hands on the beginning, its length and its hash, which is all that a dead letter tells of it. So a
micro-batch that Spark's source has planned gives the same output as if Spark could have read it. Its offsets are
Spark's own, `{topic: {partition: offset}}`: a query goes on with either source where the other one ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.spark.checkpoint.spark_offsets import Ends
from tripline_engine.spark.rows.record_limits import CUT_LENGTH, CUT_SHA256

NAME: Final = "tripline-stored-batches"
SCHEMA: Final = (
    f"topic string, partition int, offset bigint, recordTime bigint, value binary, {BACKFILL} binary,"
    f" {CUT_LENGTH} bigint, {CUT_SHA256} string"
)
_ROWS: Final = 2_000
_BYTES: Final = 8 << 20

Offsets = dict[str, dict[str, int]]
"""As in Spark's JSON: partitions are texts."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Offsets that a source of the query reads with care: from `initial`, unless it has a commit, up to `until`."""

    initial: Ends
    until: Ends

    def is_judged(self, judged: Ends) -> bool:
        """Whether the committed micro-batches have all of it."""
        return all(
            judged.get(topic, {}).get(partition, 0) >= until
            for topic, partitions in self.until.items()
            for partition, until in partitions.items()
        )


def careful_frame(
    session: SparkSession, kafka: KafkaCluster, stretch: Stretch, keep: int, limit: int
) -> DataFrame:
    """The stretch as a stream of rows by SCHEMA.

    :param keep: bytes of a value at most
    :param limit: rows of a micro-batch at most; negative: no limit
    """
    session.dataSource.register(CarefulSource)
    options = {
        "kafka": json.dumps(kafka.variables()),
        "initial": json.dumps(stretch.initial),
        "until": json.dumps(stretch.until),
        "keep": str(keep),
        "limit": str(limit),
    }
    return session.readStream.format(NAME).options(**options).load()


class CarefulSource(DataSource):
    """Options as `careful_frame` gives them."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802  # Spark's names
        return CarefulReader(self.options)


@dataclass
class Span(InputPartition):
    """Consecutive offsets of one partition; `until` is exclusive."""

    topic: str
    partition: int
    first: int
    until: int


class CarefulReader(DataSourceStreamReader):
    """Reads up to the offsets of `until`, and never beyond."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._kafka: dict[str, str] = json.loads(options["kafka"])
        self._keep, self._limit = int(options["keep"]), int(options["limit"])
        self._initial: Offsets = json.loads(options["initial"])
        self._until: Offsets = json.loads(options["until"])

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # Spark's names, here and below
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limit) if self._limit >= 0 else ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Each partition gets its share of the limit, by what it has yet to read, as with Spark's own source."""
        end: Offsets = {topic: dict(partitions) for topic, partitions in start.items()}
        unread = {
            (topic, partition): until - self._first(start, topic, partition)
            for topic, partitions in self._until.items()
            for partition, until in partitions.items()
        }
        total = sum(max(0, count) for count in unread.values())
        share = 1.0
        if isinstance(limit, ReadMaxRows) and limit.max_rows < total:
            share = limit.max_rows / total
        for (topic, partition), count in unread.items():
            first = self._first(start, topic, partition)
            rows = -(-max(0, count) * share // 1)
            end.setdefault(topic, {})[partition] = first + int(rows)
        return end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        return [
            Span(topic, int(partition), first, until)
            for topic, partitions in end.items()
            for partition, until in partitions.items()
            if (first := self._first(start, topic, partition)) < until
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        # in a worker only: the planning process has no use for Arrow and Kafka
        from tripline_engine.spark.rows.stored_batches import stored_batches  # noqa: PLC0415

        assert isinstance(partition, Span)
        span = (partition.topic, partition.partition, partition.first, partition.until)
        return stored_batches(kafka_cluster(self._kafka), *span, keep=self._keep, rows=_ROWS, size=_BYTES)

    def _first(self, start: Offsets, topic: str, partition: str) -> int:
        """Where a partition is read from: one that has not been read yet, from its initial offset."""
        initial = self._initial.get(topic, {}).get(partition, 0)
        return start.get(topic, {}).get(partition, initial)
