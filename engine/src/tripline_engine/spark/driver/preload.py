"""Background work at the start: slow imports and Spark's fork server, while the main thread waits for Java."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tripline_engine.spark.query.worker_start import start_workers

_log = structlog.get_logger(__name__)


def import_arrow() -> None:
    """Imports pandas and pyarrow, which PySpark needs in the driver too: a second, while Java starts."""
    _in_background(lambda: [importlib.import_module(name) for name in ("pandas", "pyarrow")])


def load_workers(session: SparkSession) -> None:
    """Has Spark start the fork server of its Python workers, while the first micro-batch is planned."""

    def load() -> None:
        try:
            start_workers(session)
        except PySparkException as error:
            # the session was stopped meanwhile; any other cause makes the query fail too
            _log.debug("workers_not_loaded", reason=type(error).__name__)

    _in_background(load)


def _in_background(work: Callable[[], object]) -> None:
    threading.Thread(target=work, name="head-start", daemon=True).start()
