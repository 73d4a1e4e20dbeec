"""The process that Spark forks its Python workers from, with everything loaded that they need.

Spark's own daemon imports nothing, so each worker would import pandas, pyarrow and numba and load the kernels by
itself: four seconds of processor time per worker, four workers, before the first micro-batch. Here that happens once.
The one thread that the imports start is jemalloc's, which knows about forks. Spark starts this module by the setting
`spark.python.daemon.module`.
"""

from __future__ import annotations

import contextlib
import gc
import resource
import sys

from pyspark import daemon


def preload() -> None:
    """Imports what workers import, and judges a made-up micro-batch, which loads the kernels (or compiles them)."""
    # Spark reads the daemon's address from standard output: nothing else may write there
    with contextlib.redirect_stdout(sys.stderr):
        import pyspark.sql.streaming.stateful_processor_util  # noqa: PLC0415
        import pyspark.worker  # noqa: F401, PLC0415

        from tripline_engine.spark import processor  # noqa: F401, PLC0415
        from tripline_engine.spark.warm_up import warm_up  # noqa: PLC0415

        warm_up()
    # what is shared by all workers is never garbage, and looking at it would copy its pages
    gc.collect()
    gc.freeze()


def allow_many_files() -> None:
    """As many open files as the system lets this user have: each array of a shard is a mapped file."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    allow_many_files()
    preload()
    daemon.manager()
