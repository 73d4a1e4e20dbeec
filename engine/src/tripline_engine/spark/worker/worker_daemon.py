"""The process that Spark forks its Python workers from, with everything loaded that they need.

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
    """Imports what workers import, and judges a made-up micro-batch, which loads the kernels (or compiles them)."""
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
    # what is shared by all workers is never garbage, and looking at it would copy its pages
    gc.collect()
    gc.freeze()


def allow_many_files() -> None:
    """As many open files as the system lets this user have: each array of a shard is a mapped file."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def keep_freed_memory() -> None:
    """What one micro-batch frees is for the next one.

    Else the system has it back each time, and writes noughts into it before it gives it again: a tenth of all processor
    time under a thousand rules.
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
