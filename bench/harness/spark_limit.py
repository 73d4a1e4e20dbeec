"""What Spark's own operators take of the same topics: read, parsed, counted by shard, no Python. A process of its own.

`python -m bench.harness.spark_limit <jars> <folder> <payments per micro-batch> [<cores>]` writes one line of JSON:
payments a second, on two cores unless told. Kafka is where TRIPLINE_KAFKA… says. Tuned as the engine is: no fork for a
file, no user interface, micro-batches so large that planning does not count, and compiled stages: here they pay.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_engine.spark.query.sources import kafka_options

_SCHEMA: Final = (
    "transactionId string, eventTime long, payeeId string, beneficiaryId string, paymentAmount decimal(24,6), "
    "paymentType string, ingestionTimestamp long"
)
_SETTINGS: Final = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


def main(kafka: KafkaCluster, jars: Path, folder: Path, per_batch: int, cores: int) -> None:
    """Takes all there is, and tells how fast, without the first quarter."""
    builder = SparkSession.Builder().appName("limit").config("spark.driver.extraClassPath", f"{jars}/*")
    builder = builder.master(f"local[{cores}]").config("spark.sql.shuffle.partitions", cores)
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    raw = (
        session.readStream.format("kafka")
        .options(**kafka_options(kafka))
        .option("subscribe", "transactions.v1")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", per_batch)
        .option("kafka.max.poll.records", 10_000)
        .load()
    )
    fields = raw.select(F.from_json(F.col("value").cast("string"), _SCHEMA).alias("p")).select("p.*")
    shards = F.array(*(F.pmod(F.hash(name), F.lit(cores)) for name in ("payeeId", "beneficiaryId")))
    counted = fields.select(F.explode(shards).alias("shard"), "paymentAmount").groupBy("shard")
    query = (
        counted.agg(F.count("*").alias("payments"), F.sum("paymentAmount").alias("amount"))
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    batches: list[dict[str, Any]] = [json.loads(progress.json) for progress in query.recentProgress]
    timed = batches[max(1, len(batches) // 4) :]
    rows = sum(batch["numInputRows"] for batch in timed)
    seconds = sum(batch["durationMs"]["triggerExecution"] for batch in timed) / 1_000
    session.stop()
    print(json.dumps({"rate": rows / seconds, "rows": rows}))


if __name__ == "__main__":
    main(
        kafka_cluster(os.environ),
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]) if len(sys.argv) > 4 else 2,
    )
