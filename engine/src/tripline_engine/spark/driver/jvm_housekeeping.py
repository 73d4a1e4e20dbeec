"""Eviction of paths that Spark leaks in a driver that runs for months.

With Unix sockets every Python task registers its socket's path in `java.io.DeleteOnExitHook` and never takes it out:
250 bytes, ten to twenty a second. The set is swapped for one that holds only paths that still exist. The swap is one
reference, so a path registered at that very moment may be lost: a file that a clean exit would then not delete.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import structlog
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_log = structlog.get_logger(__name__)
INTERVAL_SECONDS: Final = 600


def evict_deleted_paths(session: SparkSession) -> int:
    """Number of paths evicted; also 0 where this Java forbids it."""
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001  # there is no public way into the JVM
    try:
        field = jvm.java.lang.Class.forName("java.io.DeleteOnExitHook").getDeclaredField("files")
        field.setAccessible(True)
        paths = jvm.java.lang.String.join("\n", field.get(None)).split("\n")
        kept = jvm.java.util.LinkedHashSet()
        alive = [path for path in paths if path and Path(path).exists()]
        for path in alive:
            kept.add(path)
        field.set(None, kept)
    except Py4JError as error:
        # another thread registering a path while the set is read; the next round will do
        _log.info("delete_on_exit_not_purged", reason=type(error).__name__)
        return 0
    return len(paths) - len(alive)
