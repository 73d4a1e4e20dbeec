"""Spark's progress events as metrics and readiness."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tripline_engine.spark.driver.anchor_watch import AnchorWatch
from tripline_engine.spark.driver.backlog import Backlog
from tripline_engine.spark.driver.history_limit import HistoryLimit
from tripline_engine.spark.driver.metrics import Metrics, shard_counters
from tripline_engine.spark.driver.rule_log_watch import RuleLogWatch
from tripline_engine.spark.query.query import OBSERVATION

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

_SOURCES = ("events", "transactions")
"""The query's sources in the order of its plan."""


class ProgressListener:
    """Called by the JVM from Spark's listener thread, after the micro-batch's commit.

    PySpark's own listeners rebuild each event from some hundred calls back into the JVM, many of which look for classes
    by name through every jar: a fifth of the engine's processor time. This one parses the event's JSON.

    `ready` is set from the query's first progress until it ends. `committed` is set by each micro-batch: whoever waits
    for one clears it first.
    """

    def __init__(
        self,
        metrics: Metrics,
        ready: threading.Event,
        committed: threading.Event,
        limit: HistoryLimit,
        backlog: Backlog,
        rule_log: RuleLogWatch,
        need: AnchorWatch,
    ) -> None:
        self._metrics, self._need = metrics, need
        self._limit, self._backlog, self._rule_log = limit, backlog, rule_log
        self._ready, self._committed = ready, committed

    def listen(self, session: SparkSession) -> None:
        """Register with the session."""
        session.streams.addListener(self)  # type: ignore[arg-type]  # it asks for `_jlistener` and nothing else

    def batch_done(self, progress: dict[str, Any]) -> None:
        """A committed micro-batch: Spark's progress JSON."""
        rows = {
            name: source["numInputRows"] for name, source in zip(_SOURCES, progress["sources"], strict=False)
        }
        observed = progress.get("observedMetrics", {}).get(OBSERVATION)
        shards = shard_counters(observed) if observed else []
        stages = dict(progress["durationMs"])
        self._metrics.batch_committed(stages.pop("triggerExecution") / 1000, rows, shards)
        self._metrics.record_stages(stages)
        self._backlog.batch_done(rows.get("transactions", 0))
        counted = [(shard, json.loads(text)) for shard, text in shards]
        self._need.batch_done(progress, [counters for _, counters in counted])
        for shard, counters in counted:
            self._limit.record(shard, counters["history_rows"])
            is_waiting = bool(counters["rule_waiting"])
            self._rule_log.record(shard, counters["rule_position"], is_waiting=is_waiting)
        self._ready.set()
        self._committed.set()

    def onQueryStarted(self, event: JavaObject) -> None:  # noqa: N802  # Spark's names
        """Started isn't ready: state may have to be loaded first."""

    def onQueryProgress(self, event: JavaObject) -> None:  # noqa: N802
        self.batch_done(json.loads(event.progress().json()))

    def onQueryIdle(self, event: JavaObject) -> None:  # noqa: N802, ARG002
        self._ready.set()

    def onQueryTerminated(self, event: JavaObject) -> None:  # noqa: N802, ARG002
        self._ready.clear()

    @property
    def _jlistener(self) -> JavaObject:
        assert SparkContext._jvm is not None  # noqa: SLF001  # a listener is added to a session that runs
        return SparkContext._jvm.PythonStreamingQueryListenerWrapper(self)  # noqa: SLF001

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)
