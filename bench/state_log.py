"""What an engine's state logs hold: entries and bytes, read by Spark's own reader of states. A process of its own.

`python -m bench.state_log <jars> <folder of the query>` writes one line of JSON. What the state takes of the disk says
little: Spark keeps the versions of a hundred micro-batches, and RocksDB what has been removed until it compacts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from bench.engine import Place
from bench.stack import BenchFailed

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


@dataclass(frozen=True, slots=True)
class Logged:
    """All shards' state logs together; bytes of keys and values."""

    entries: int
    bytes: int


def logged(place: Place) -> Logged:
    """As of the newest committed micro-batch; the engine may run meanwhile. Raises BenchFailed."""
    command = [sys.executable, "-m", "bench.state_log", str(place.jars.engine), str(place.state.parent)]
    environment = {**os.environ, "JAVA_HOME": str(place.java.home), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchFailed(f"the state could not be read:\n{done.stderr[-2_000:]}")
    return Logged(**json.loads(done.stdout.splitlines()[-1]))


def main(jars: Path, query: Path) -> None:
    """Reads them."""
    builder = SparkSession.Builder().appName("state").config("spark.driver.extraClassPath", f"{jars}/*")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # whoever loads a state tells its coordinator, which comes with the streams, used or not
    assert not session.streams.active
    entries = session.read.format("statestore").option("stateVarName", "log").load(str(query))
    size = F.length("user_map_key.key") + F.length("user_map_value.data")
    [row] = entries.agg(F.count("*").alias("entries"), F.sum(size).alias("bytes")).collect()
    session.stop()
    print(json.dumps({"entries": row["entries"], "bytes": row["bytes"] or 0}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
