"""Spark's progress events into metrics and readiness."""

from __future__ import annotations

import threading

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from tripline_engine.spark.metrics import Metrics, shard_counters
from tripline_engine.spark.query import OBSERVATION

_SOURCES = ("events", "transactions")
"""The query's sources in the order of its plan."""


class ProgressListener(StreamingQueryListener):
    """Called from Spark's listener thread, after the micro-batch's commit."""

    def __init__(self, metrics: Metrics, ready: threading.Event) -> None:
        self._metrics = metrics
        self._ready = ready

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  # Spark's names
        """Started isn't ready: state may have to be loaded first."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        progress = event.progress
        rows = {name: source.numInputRows for name, source in zip(_SOURCES, progress.sources, strict=False)}
        observed = progress.observedMetrics.get(OBSERVATION)
        shards = shard_counters(observed.asDict()) if observed else []
        stages = dict(progress.durationMs)
        self._metrics.batch_committed(stages.pop("triggerExecution") / 1000, rows, shards)
        self._metrics.stages_took(stages)
        self._ready.set()

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802, ARG002
        self._ready.set()

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802, ARG002
        self._ready.clear()
