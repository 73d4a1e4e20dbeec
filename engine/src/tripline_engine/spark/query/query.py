"""The streaming query: sources, shards, sink."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.streaming.query import StreamingQuery

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.restore_point import RestorePoint, judged_ends, read_restore_point
from tripline_engine.spark.checkpoint.spark_offsets import last_commit
from tripline_engine.spark.faults.fault_points import FaultPoint
from tripline_engine.spark.query.processor import INITIAL_STATE_SCHEMA, ShardProcessor
from tripline_engine.spark.query.session import LARGE_BATCHES, SMALL_BATCHES
from tripline_engine.spark.query.sources import NOWHERE, Careful, kafka_options, shard_inputs
from tripline_engine.spark.rows.output_schema import OUTPUT_SCHEMA
from tripline_engine.spark.rows.shard_keys import shard_keys
from tripline_engine.spark.settings import EngineSettings

OBSERVATION = "shards"
"""The observed metrics of each micro-batch: column `shard<n>` holds that shard's counters as JSON."""


def start_query(
    session: SparkSession,
    settings: EngineSettings,
    config: EngineConfig,
    processor: ShardProcessor,
    fault: FaultPoint | None = None,
    *,
    takes_transactions: bool = True,
    catching_up: bool = False,
    careful: Careful = NOWHERE,
) -> StreamingQuery:
    """Starts, or resumes by its checkpoint, the engine's one query.

    :param catching_up: with the plan for large micro-batches; results are the same
    :param careful: stretches that Spark's own source cannot read; needs that plan
    """
    assert catching_up or not careful.transactions
    for name, value in (LARGE_BATCHES if catching_up else SMALL_BATCHES).items():
        session.conf.set(name, value)
    restore_point = read_restore_point(settings.checkpoint)
    begin = (
        judged_ends(settings.checkpoint) if last_commit(spark_folder(settings.checkpoint)) is None else None
    )
    inputs = shard_inputs(
        session,
        settings,
        config,
        fault,
        begin,
        takes_transactions=takes_transactions,
        packed=catching_up,
        careful=careful,
    )
    outputs = inputs.groupBy("shardKey").transformWithStateInPandas(
        processor,
        outputStructType=OUTPUT_SCHEMA,
        outputMode="update",
        timeMode="none",
        initialState=_initial_state(session, config.shards, restore_point) if restore_point else None,
    )
    return (
        _observed(outputs, config.shards)
        .where(F.col("topic").isNotNull())
        .select("topic", "key", "value", "headers")
        .writeStream.queryName("tripline-engine")
        .format("kafka")
        .options(**kafka_options(settings.kafka))
        .option("checkpointLocation", str(spark_folder(settings.checkpoint)))
        .outputMode("update")
        # of none Spark makes its usual trigger: the next micro-batch at once; and so it is where one takes longer
        .trigger(processingTime=f"{settings.batch_interval_ms} milliseconds")
        .start()
    )


def _initial_state(session: SparkSession, shards: int, restore_point: RestorePoint) -> GroupedData:
    """The path of each shard's state log, not its content: gigabytes, which Spark would carry row by row."""
    rows = [(key, str(restore_point.state_file(shard))) for shard, key in enumerate(shard_keys(shards))]
    return session.createDataFrame(rows, INITIAL_STATE_SCHEMA).groupBy("shardKey")


def _observed(outputs: DataFrame, shards: int) -> DataFrame:
    """Observes the counters in the output, which reach the driver with the progress of the committed batch."""

    def counters_of(shard: int) -> Column:
        return F.max(F.when(F.col("shard") == shard, F.col("counters"))).alias(f"shard{shard}")

    first, *others = (counters_of(shard) for shard in range(shards))
    return outputs.observe(OBSERVATION, first, *others)
