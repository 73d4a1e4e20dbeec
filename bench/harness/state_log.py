"""What an engine's state logs hold: entries and bytes, read by Spark's own reader of states. A process of its own.

`python -m bench.harness.state_log <jars> <checkpoint>` writes one line of JSON. Files are counted that the state names.
What the state takes of the disk says little: versions of a hundred micro-batches are kept, and RocksDB has what was
removed until it compacts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from bench.harness.engine import Workplace
from bench.harness.stack import BenchFailed
from tripline_engine.domain.state_log.state_log import LARGE_ONES
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.state.blob_index import NAMES, names_in
from tripline_engine.spark.state.blob_log import shard_folder

_SETTINGS: Final = {
    "spark.master": "local[1]",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
}

_MOST_NAME: Final = 1_000


@dataclass(frozen=True, slots=True)
class Logged:
    """All shards' state logs together; bytes of keys and values, and of the files of what is large in them."""

    entries: int
    bytes: int


def logged(workplace: Workplace) -> Logged:
    """As of the newest committed micro-batch; the engine may run meanwhile. Raises BenchFailed."""
    command = [
        sys.executable,
        "-m",
        "bench.harness.state_log",
        str(workplace.jars.engine),
        str(workplace.checkpoint),
    ]
    environment = {**os.environ, "JAVA_HOME": str(workplace.java.home), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchFailed(f"the state could not be read:\n{done.stderr[-2_000:]}")
    return Logged(**json.loads(done.stdout.splitlines()[-1]))


def main(jars: Path, checkpoint: Path) -> None:
    """Reads them."""
    builder = SparkSession.Builder().appName("state").config("spark.driver.extraClassPath", f"{jars}/*")
    for setting, value in _SETTINGS.items():
        builder = builder.config(setting, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # whoever loads a state tells its coordinator, which comes with the streams, used or not
    assert not session.streams.active
    entries = (
        session.read.format("statestore").option("stateVarName", "log").load(str(spark_folder(checkpoint)))
    )
    key, data = F.col("user_map_key.key"), F.col("user_map_value.data")
    size = F.length(key) + F.length(data)
    [row] = entries.agg(F.count("*").alias("entries"), F.sum(size).alias("bytes")).collect()
    # what names no file is not fetched; a stub is short
    stubs = reduce(or_, map(key.startswith, LARGE_ONES)) & (F.length(data) < _MOST_NAME)
    naming = entries.where(key.startswith(NAMES) | stubs)
    # a shard's state lies in the partition of its number
    found_names = naming.select("partition_id", key.alias("key"), F.unbase64(data).alias("data")).collect()
    session.stop()
    files = [
        shard_folder(checkpoint, found_name["partition_id"]) / name
        for found_name in found_names
        for name in names_in(found_name["key"], bytes(found_name["data"]))
    ]
    total = (row["bytes"] or 0) + sum(path.stat().st_size for path in files)
    print(json.dumps({"entries": row["entries"], "bytes": total}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
