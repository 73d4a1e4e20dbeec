"""What a start needs later and nothing keeps from beginning now: other threads do it while the main one waits."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    import pyarrow as pa

_log = structlog.get_logger(__name__)


def import_arrow() -> None:
    """Imports what Spark's Python functions want in the driver too, a second's worth, while Java starts."""
    _in_background(lambda: [importlib.import_module(name) for name in ("pandas", "pyarrow")])


def load_workers(session: SparkSession) -> None:
    """Has Spark start the process that workers are forked from, while the first micro-batch is planned."""

    def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches

    def load() -> None:
        try:
            rows = session.range(0, 1, 1, 1).mapInArrow(same, "id long")
            rows.write.format("noop").mode("overwrite").save()
        except PySparkException as error:
            # stopped meanwhile; whatever else it is, the query will say it
            _log.debug("workers_not_loaded", reason=type(error).__name__)

    _in_background(load)


def _in_background(work: Callable[[], object]) -> None:
    threading.Thread(target=work, name="head-start", daemon=True).start()
