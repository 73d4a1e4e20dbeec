"""The start of Spark's Python workers, before there is anything for them to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    import pyarrow as pa


def start_workers(session: SparkSession) -> None:
    """Has Spark start the fork server of its Python workers, on a cluster one of them. Raises PySparkException."""
    session.range(0, 1, 1, 1).mapInArrow(_same, "id long").write.format("noop").mode("overwrite").save()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches
