"""The fork server of Spark's Python workers, with imports and compiled kernels loaded.

Spark's own daemon imports nothing, so each worker would import pandas, pyarrow and numba and load the kernels by
itself: four seconds of processor time per worker, four workers, before the first micro-batch. Here that happens once.
The one thread that the imports start is jemalloc's, which knows about forks. Spark starts this module by the setting
`spark.python.daemon.module`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import sys
from typing import Final

from pyspark import daemon

# glibc's numbers of what can be set, and the values (bytes): the largest threshold that it would come to by itself,
# and as much at the end of the heap.
_MMAP_THRESHOLD: Final = (-3, 1 << 25)
_TRIM_THRESHOLD: Final = (-1, 1 << 25)


def preload() -> None:
    """Imports the workers' modules, and judges a made-up micro-batch, which loads (or compiles) the kernels."""
    # Spark reads the daemon's address from standard output: nothing else may write there
    with contextlib.redirect_stdout(sys.stderr):
        import pyspark.sql.streaming.stateful_processor_util  # noqa: PLC0415
        import pyspark.worker  # noqa: F401, PLC0415

        from tripline_engine import logs  # noqa: PLC0415
        from tripline_engine.spark.query import processor  # noqa: F401, PLC0415
        from tripline_engine.spark.rows import output_batches  # noqa: F401, PLC0415
        from tripline_engine.spark.rows.record_batches import use_record_batches  # noqa: PLC0415
        from tripline_engine.spark.state.state_client import use_state_client  # noqa: PLC0415
        from tripline_engine.spark.worker.jit_watch import report_late_compilation  # noqa: PLC0415
        from tripline_engine.spark.worker.warm_up import warm_up  # noqa: PLC0415

        use_record_batches()
        use_state_client()
        warm_up()
        logs.configure(os.environ.get("TRIPLINE_LOG_LEVEL", "info"))
        report_late_compilation()
    # objects shared by all workers are never garbage, and traversing them would copy their pages
    gc.collect()
    gc.freeze()


def allow_many_files() -> None:
    """Raises the soft limit of open files to the hard one: each array of a shard is a mapped file."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))


def keep_freed_memory() -> None:
    """Has malloc keep freed memory for the next micro-batch.

    Otherwise it is returned to the system each time, which zeroes the pages before it hands them out again: a tenth of
    all processor time under a thousand rules.
    """
    library = ctypes.CDLL(None)
    # glibc alone has this
    if hasattr(library, "mallopt"):
        for name, value in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            library.mallopt(name, value)


if __name__ == "__main__":
    allow_many_files()
    keep_freed_memory()
    preload()
    daemon.manager()
