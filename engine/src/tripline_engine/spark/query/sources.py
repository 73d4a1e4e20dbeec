"""Sources of the query: rule events and ticks broadcast to every shard, transactions packed by shard.

A single shard reads raw transaction records, in one partition: no shuffle, and no stage of its own for parsing and
packing. For several shards, and for large micro-batches, records are packed by shard before the shuffle.

Rule events and ticks share a source without a cap: a cap is split by backlog over a source's topics, and a rule must
never wait behind transactions. Transactions have a source of their own, capped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.domain.rules.event_decoder import MAX_EVENT_BYTES
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind
from tripline_engine.domain.shard.tick import MAX_TICK_BYTES
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.spark.checkpoint.anchor_note import batch_of_task, wanted_anchors
from tripline_engine.spark.checkpoint.spark_offsets import Ends
from tripline_engine.spark.faults.fault_points import FaultPoint
from tripline_engine.spark.query.careful_source import Stretch, careful_frame
from tripline_engine.spark.query.starting_offsets import starting_offsets
from tripline_engine.spark.rows.input_schema import BACKFILLED_RECORD, PACKED_SCHEMA, RAW_RECORD
from tripline_engine.spark.rows.record_limits import CUT_LENGTH, CUT_SHA256, REJECT_BYTES
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import RULES, TICKS, TRANSACTIONS

if TYPE_CHECKING:
    import pyarrow as pa

    from tripline_engine.spark.rows.packing import Pack

_LONGEST_EVENT: Final = max(MAX_EVENT_BYTES, MAX_TICK_BYTES) + 1


@dataclass(frozen=True, slots=True)
class Careful:
    """The stretch of each source that Spark's own Kafka source cannot read; None: there is none."""

    events: Stretch | None = None
    transactions: Stretch | None = None

    def ahead(self, judged: Ends) -> Careful:
        """The stretches that are not judged yet."""
        stretches = self.events, self.transactions
        return Careful(
            *(None if stretch is None or stretch.is_judged(judged) else stretch for stretch in stretches)
        )


NOWHERE: Final = Careful()


def shard_inputs(
    session: SparkSession,
    settings: EngineSettings,
    config: EngineConfig,
    fault: FaultPoint | None = None,
    begin: Ends | None = None,
    *,
    takes_transactions: bool = True,
    packed: bool = False,
    careful: Careful = NOWHERE,
) -> DataFrame:
    """Rows by PACKED_SCHEMA.

    With one shard raw records are among them, unless they are to be packed, and all have partition int, recordTime long
    and backfill binary. `begin` is where a query without a commit reads from; None for one that has one. What is read
    with care is packed.
    """
    events = _broadcast_events(session, settings, config.shards, begin, careful.events)
    limit = settings.largest_batch(catching_up=packed) if takes_transactions else 0
    records = _records(session, settings, begin, limit, careful.transactions)
    if config.shards == 1 and not packed:
        return events.unionByName(_raw_transactions(records)).coalesce(1)
    pack = packing(config, fault, note_of=(settings.checkpoint, settings.topic(RULES)))
    slices = records.mapInArrow(pack, PACKED_SCHEMA)
    # never null, as where raw records are taken: a key that might be null is another one to the state store, and a
    # query in this form could not go on from a checkpoint that the other one has begun
    key = F.coalesce("shardKey", F.lit(shard_keys(config.shards)[0]))
    return events.drop("partition", "recordTime", BACKFILL).unionByName(slices.withColumn("shardKey", key))


def _broadcast_events(
    session: SparkSession,
    settings: EngineSettings,
    shards: int,
    begin: Ends | None,
    stretch: Stretch | None,
) -> DataFrame:
    """Rule events and ticks, a copy for each shard, with their Kafka offset as position."""
    if stretch:
        events = careful_frame(session, settings.kafka, stretch, _LONGEST_EVENT, limit=-1)
        record_time = F.col("recordTime")
    else:
        events = _kafka(session, settings, [settings.topic(RULES), settings.topic(TICKS)], begin)
        record_time = F.unix_millis("timestamp")
    keys = [F.lit(key) for key in shard_keys(shards)]
    # for one shard there is nothing to multiply, and each step of a plan costs in every micro-batch
    every_shard = F.explode(F.array(*keys)) if shards > 1 else keys[0]
    is_rule = F.col("topic") == settings.topic(RULES)
    kind = F.when(is_rule, F.lit(int(Kind.RULE_EVENT))).otherwise(F.lit(int(Kind.TICK)))
    # a record without a value is an event that can't be read: the shards say so
    value = F.coalesce(F.col("value"), F.unhex(F.lit("")))
    return events.select(
        every_shard.alias("shardKey"),
        kind.cast("tinyint").alias("kind"),
        F.col("offset").alias("position"),
        F.when(is_rule, value).otherwise(F.concat(_big_endian(record_time), value)).alias("payload"),
        "partition",
        record_time.alias("recordTime"),
        F.lit(None).cast("binary").alias(BACKFILL),
    )


def _big_endian(milliseconds: Column) -> Column:
    """Eight bytes, as `tick.tick_payload` has them."""
    not_negative = F.greatest(milliseconds, F.lit(0))
    return F.unhex(F.lpad(F.hex(not_negative), 16, "0"))


def _records(
    session: SparkSession, settings: EngineSettings, begin: Ends | None, limit: int, stretch: Stretch | None
) -> DataFrame:
    """At most `limit` transactions per micro-batch; 0 pauses the source without losing records."""
    if stretch:
        records = careful_frame(session, settings.kafka, stretch, REJECT_BYTES, limit)
        return records.select("partition", "offset", "recordTime", "value", BACKFILL, CUT_LENGTH, CUT_SHA256)
    options = {"maxOffsetsPerTrigger": str(limit), "includeHeaders": "true"}
    raw = _kafka(session, settings, [settings.topic(TRANSACTIONS)], begin, options)
    record_time = F.unix_millis("timestamp").alias("recordTime")
    return raw.select("partition", "offset", record_time, "value", _header(BACKFILL).alias(BACKFILL))


def _header(name: str) -> Column:
    """The first header of that name, empty if it has no value; null for a record that has none of that name."""
    index = F.array_position(F.col("headers.key"), name)
    value = F.try_element_at(F.col("headers.value"), index.cast("int"))
    return F.when(index > 0, F.coalesce(value, F.unhex(F.lit(""))))


def _raw_transactions(records: DataFrame) -> DataFrame:
    [key] = shard_keys(1)
    kind = F.when(F.col(BACKFILL).isNull(), RAW_RECORD).otherwise(BACKFILLED_RECORD)
    return records.select(
        F.lit(key).alias("shardKey"),
        kind.cast("tinyint").alias("kind"),
        F.col("offset").alias("position"),
        F.col("value").alias("payload"),
        "partition",
        "recordTime",
        BACKFILL,
    )


def packing(config: EngineConfig, fault: FaultPoint | None, note_of: tuple[Path, str] | None = None) -> Pack:
    """The packer, behind the fault point that strikes before anything is packed.

    :param note_of: the checkpoint, and the topic of rule events, by whose note anchors are left out; None: none is
    """

    def wanted() -> Collection[str] | None:
        return wanted_anchors(*note_of, batch_of_task()) if note_of else None

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # in the worker only: the driver has no use for compiled kernels
        from tripline_engine.spark.rows.packing import packer  # noqa: PLC0415

        return packer(config, wanted=wanted)(fault.reach_plan(batches) if fault else batches)

    return pack


def kafka_options(cluster: KafkaCluster) -> dict[str, str]:
    """Of Spark's source and sink: who they talk to, and as whom."""
    return {f"kafka.{name}": value for name, value in cluster.java_config().items()}


def _kafka(
    session: SparkSession,
    settings: EngineSettings,
    topics: Sequence[str],
    begin: Ends | None,
    source_options: Mapping[str, str] | None = None,
) -> DataFrame:
    options = {
        **kafka_options(settings.kafka),
        "subscribe": ",".join(topics),
        "startingOffsets": "earliest" if begin is None else starting_offsets(settings, topics, begin),
        "kafka.max.poll.records": "10000",
        # Spark asks for what is there. But having got it, the consumer fetches ahead; at the topic's end the broker
        # keeps that request, and Spark's next question on the same connection waits behind it: by default 500 ms
        "kafka.fetch.max.wait.ms": "1",
        **(source_options or {}),
    }
    return session.readStream.format("kafka").options(**options).load()
