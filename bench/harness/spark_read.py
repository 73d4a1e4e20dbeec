"""What Spark's own operators take of a Parquet file, no Python: read and counted; and the rule, as a window.

`python -m bench.harness.spark_read <file> <cores> <limit> [no-window]` writes one line of JSON: seconds of each. The
count is by shard of the payee, with the sum of amounts, as `spark_limit` has it of topics. The window is what comes
closest to the rule: equal times count as one, each of them sees the others.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

WINDOW_MS: Final = 1_800_000
_SETTINGS: Final = {
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
}


def main(file: str, cores: int, limit: str, *, with_window: bool) -> None:
    """Runs both, each of them warm."""
    builder = SparkSession.Builder().appName("read").master(f"local[{cores}]")
    for name, value in {**_SETTINGS, "spark.sql.shuffle.partitions": str(cores)}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.parquet(file)
    _seconds(lambda: counted(rows.limit(100_000), cores))
    told = {"count": _seconds(lambda: counted(rows, cores))}
    if with_window:
        told["window"] = _seconds(lambda: windowed(rows, limit))
    session.stop()
    print(json.dumps(told))


def counted(rows: DataFrame, cores: int) -> DataFrame:
    """Transactions and amounts by shard; every column is read."""
    shard = F.pmod(F.hash("payeeId"), F.lit(cores))
    others = F.max(F.hash(*rows.columns))
    return rows.groupBy(shard.alias("shard")).agg(F.count("*"), F.sum("paymentAmount"), others)


def windowed(rows: DataFrame, limit: str) -> DataFrame:
    """How many transactions the rule would alert on."""
    window = Window.partitionBy("payeeId").orderBy("eventTime").rangeBetween(-WINDOW_MS, 0)
    summed = rows.withColumn("sum", F.sum("paymentAmount").over(window))
    return summed.where(F.col("sum") > F.lit(limit).cast("decimal(24,6)")).agg(F.count("*"))


def _seconds(query: Callable[[], DataFrame]) -> float:
    begin = time.monotonic()
    query().collect()
    return time.monotonic() - begin


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], with_window="no-window" not in sys.argv[4:])
