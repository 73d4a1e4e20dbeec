"""A Spark session for a batch job: secured as the engine's is, without Kafka and without state."""

from __future__ import annotations

import os
import sys
from typing import Final

from pyspark.sql import SparkSession

from tripline_engine.spark.query.session import (
    EVERY_SESSION,
    PINNED,
    created,
    log_option,
    refuse_strange_callers,
)
from tripline_engine.spark.settings import local_master

_PURPOSE: Final = {
    **EVERY_SESSION,
    # a row is a run of transactions, megabytes of it
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
    # rows at a time as they are kept on the disk between jobs: an alert may be 20 KB, and each task has ten thousand of
    # them in memory unless told
    "spark.sql.inMemoryColumnarStorage.batchSize": "256",
    # how far a job is, is asked for twice a second
    "spark.ui.liveUpdate.period": "100ms",
}


def start_batch_session(master: str, memory: str = "2g") -> SparkSession:
    """A session on this machine or on a cluster. Raises BadSettings for a cluster that has no secret."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ[PINNED] = "false"
    builder = SparkSession.Builder().appName("tripline-backtest").master(local_master(master))
    local = {"spark.driver.host": "127.0.0.1"} if master.startswith("local") else {}
    driver = {"spark.driver.memory": memory, "spark.driver.extraJavaOptions": log_option()}
    for name, value in {**_PURPOSE, **driver, **local}.items():
        builder = builder.config(name, value)
    session = created(builder)
    session.sparkContext.setLogLevel("ERROR")
    refuse_strange_callers(session)
    return session
