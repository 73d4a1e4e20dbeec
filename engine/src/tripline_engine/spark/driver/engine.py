"""The engine process: wires session, query, ticker and metrics, runs until told to stop."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.errors import QueryFailed
from tripline_engine.http_endpoint import serving
from tripline_engine.spark.checkpoint import checkpoint
from tripline_engine.spark.checkpoint.anchor_note import remove_note
from tripline_engine.spark.checkpoint.restore_point import judged_ends, remove_restore_point
from tripline_engine.spark.driver import jvm_housekeeping, preload
from tripline_engine.spark.driver.anchor_watch import AnchorWatch
from tripline_engine.spark.driver.backlog import Backlog, unread_records
from tripline_engine.spark.driver.careful_reading import careful_reading
from tripline_engine.spark.driver.disk_space import disk_shortage
from tripline_engine.spark.driver.history_limit import HistoryLimit
from tripline_engine.spark.driver.jvm_heap import live_bytes, old_generation
from tripline_engine.spark.driver.kafka_stream import KafkaStream
from tripline_engine.spark.driver.listener import ProgressListener
from tripline_engine.spark.driver.metrics import Metrics
from tripline_engine.spark.driver.rule_log_watch import RuleLogWatch
from tripline_engine.spark.driver.ticker import Clocks, Ticker
from tripline_engine.spark.faults.fault_points import FaultPoint, parse_fault_point
from tripline_engine.spark.query.jvm_class_cache import class_cache_for
from tripline_engine.spark.query.processor import ShardProcessor
from tripline_engine.spark.query.query import start_query
from tripline_engine.spark.query.session import start_session
from tripline_engine.spark.query.sources import NOWHERE, Careful
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.spark.state.blob_log import remove_unfinished_blobs
from tripline_engine.spark.state.stored_state import StoredState
from tripline_engine.topic_names import RULES

_log = structlog.get_logger(__name__)
_POLL_SECONDS: Final = 1.0
_COMMIT_POLL_SECONDS: Final = 0.05
# A micro-batch of a backlog takes seconds; after these the query is stopped in the middle of one.
_GRACE_SECONDS: Final = 10.0


RefuseWithoutHistory = Callable[[EngineSettings, int], None]
"""Raises EngineError where Kafka no longer has the records that the rules' windows need at that time (ms)."""


def run(settings: EngineSettings, refuse_without_history: RefuseWithoutHistory) -> None:
    """Run the engine; return after SIGTERM or SIGINT.

    :param refuse_without_history: asked once in an engine's life, before its checkpoint is made
    :raises EngineError: with one sentence, for everything else that ends the engine
    """
    fault = parse_fault_point(settings.fault_point, os.getpid())
    with checkpoint.exclusive(settings.checkpoint):
        if checkpoint.is_new(settings.checkpoint) and not settings.cold_start:
            refuse_without_history(settings, time.time_ns() // 1_000_000)
        config = checkpoint.open_config(
            settings.checkpoint, settings.event_type, settings.shards, settings.clock
        )
        remove_restore_point(settings.checkpoint)
        remove_note(settings.checkpoint)
        remove_unfinished_blobs(settings.checkpoint)
        settings.projection_dir.mkdir(parents=True, exist_ok=True)
        # on a cluster the files are on the workers' machines
        shortage = settings.is_local and disk_shortage(settings.projection_dir, settings.max_history)
        if shortage:
            _log.warning("little_room", reason=shortage)
        processor = ShardProcessor(
            config,
            StoredState(settings.checkpoint, checkpoint.state_format(settings.checkpoint)),
            settings.projection_dir,
            settings.topic_prefix,
            fault,
        )
        Engine(settings, config, fault).run(processor)


class Engine:
    """One run of the engine on a checkpoint that it holds."""

    def __init__(
        self, settings: EngineSettings, config: EngineConfig, fault: FaultPoint | None = None
    ) -> None:
        self._settings = settings
        self._config = config
        self._fault = fault
        self._metrics = Metrics()
        self._limit = HistoryLimit(settings.max_history)
        self._was_full = False
        self._backlog = Backlog(settings.max_transactions_per_batch)
        self._was_long = False
        self._careful, self._was_careful = NOWHERE, NOWHERE
        self._rule_log = RuleLogWatch()
        self._stop = threading.Event()
        self._held = checkpoint.Held(settings.checkpoint)
        self._ready, self._committed = threading.Event(), threading.Event()
        self._query: StreamingQuery | None = None

    def run(self, processor: ShardProcessor) -> None:
        address = (self._settings.metrics_host, self._settings.metrics_port)
        with serving(*address, self._metrics.registry, self._dead, self._not_ready) as port:
            _log.info("starting", engine=self._config.engine_id, shards=self._config.shards, http_port=port)
            preload.import_arrow()
            cache = self._settings.class_cache
            archive = class_cache_for(cache, self._settings.jars) if cache else None
            session = start_session(self._settings, self._config.shards, archive)
            gateway, was_ready = session.sparkContext._gateway, False  # noqa: SLF001  # the JVM's process
            preload.load_workers(session)
            self._listen_to_signals()
            settings = self._settings
            need = AnchorWatch(
                settings.checkpoint, settings.topic(RULES), self._config.event_type.all_anchors
            )
            listener = ProgressListener(
                self._metrics, self._ready, self._committed, self._limit, self._backlog, self._rule_log, need
            )
            listener.listen(session)
            try:
                self._backlog.start_with(unread_records(self._settings))
                self._careful = careful_reading(self._settings)
                query = self._start(session, processor)
                with self._ticking():
                    self._wait(session, query)
                    while not self._stop.is_set():
                        # history has reached its limit or is below it again: a query without transactions, or with
                        # them. Or a backlog has become long or short: a plan for large micro-batches, or small ones.
                        # Or what had to be read with care is judged
                        self._query = None
                        _finish(query, self._committed)
                        if self._stop.is_set():
                            break
                        query = self._start(session, processor)
                        self._wait(session, query)
                was_ready = self._ready.is_set()
                _finish(query, self._committed)
            finally:
                self._ready.clear()
                session.stop()
            if archive and was_ready:
                archive.keep(gateway)
        _log.info("stopped")

    def _start(self, session: SparkSession, processor: ShardProcessor) -> StreamingQuery:
        self._was_full = full = self._limit.full
        self._was_long = self._backlog.is_long
        self._was_careful = careful = self._careful_ahead()
        self._metrics.record_intake(is_open=not full)
        if full:
            _log.error("history_full", reason=self._limit.sentence)
        self._query = start_query(
            session,
            self._settings,
            self._config,
            processor,
            self._fault,
            takes_transactions=not full,
            catching_up=self._was_long or careful.transactions is not None,
            careful=careful,
        )
        if self._fault:
            self._fault.watch(self._query)
        return self._query

    def _listen_to_signals(self) -> None:
        # after the session: creating it sets a handler of its own
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stop.set())

    @contextmanager
    def _ticking(self) -> Iterator[None]:
        stream = KafkaStream(self._settings, self._config.engine_id)
        clocks = Clocks(lambda: time.time_ns() // 1_000_000, lambda: time.monotonic_ns() // 1_000_000)
        ticker = Ticker(
            stream,
            self._settings.checkpoint,
            self._config.engine_id,
            self._config.clock,
            clocks,
            # while history is full no transactions are read, and nothing else would advance the clock
            repeats_tick=lambda: self._limit.full,
        )
        thread = threading.Thread(
            target=ticker.run, args=(self._stop, self._metrics.record_tick), name="ticker", daemon=True
        )
        thread.start()
        self._ticker_thread = thread
        try:
            yield
        finally:
            self._stop.set()
            thread.join(timeout=10)
            stream.close()

    def _wait(self, session: SparkSession, query: StreamingQuery) -> None:
        """Returns when the engine has to stop, or to restart with another query."""
        jvm = session.sparkContext._jvm  # noqa: SLF001  # the only way to the JVM's memory statistics
        assert jvm is not None  # the query runs
        heap = old_generation(jvm)
        purge_at = time.monotonic() + jvm_housekeeping.INTERVAL_SECONDS
        while not self._stop.wait(_POLL_SECONDS) and not self._wants_another_query():
            self._held.check()
            if not query.isActive:
                raise QueryFailed(f"the streaming query ended: {_reason(query)}")
            if not self._ticker_thread.is_alive():
                raise QueryFailed("the ticker ended, without it the record clock would stand still")
            self._metrics.record_live_heap(live_bytes(heap))
            if time.monotonic() > purge_at:
                _log.debug("paths_forgotten", count=jvm_housekeeping.evict_deleted_paths(session))
                purge_at = time.monotonic() + jvm_housekeeping.INTERVAL_SECONDS

    def _wants_another_query(self) -> bool:
        if self._limit.full != self._was_full or self._backlog.is_long != self._was_long:
            return True
        return self._was_careful != NOWHERE and self._careful_ahead() != self._was_careful

    def _careful_ahead(self) -> Careful:
        if self._careful == NOWHERE:
            return NOWHERE
        return self._careful.ahead(judged_ends(self._settings.checkpoint))

    def _dead(self) -> str | None:
        if self._query is not None and not self._stop.is_set() and not self._query.isActive:
            return "the streaming query isn't running"
        return None

    def _not_ready(self) -> str | None:
        if self._query is None or not self._ready.is_set():
            return "the first micro-batch isn't done"
        if self._limit.full:
            return self._limit.sentence
        return self._dead() or self._rule_log.sentence


def _finish(query: StreamingQuery, committed: threading.Event) -> None:
    """Stops the query between two micro-batches, if one ends within the grace period.

    A stop in the middle of one is safe too, but its work is lost, and the shards' arrays are rebuilt.
    """
    committed.clear()
    deadline = time.monotonic() + _GRACE_SECONDS
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
        if committed.wait(_COMMIT_POLL_SECONDS):
            break
    try:
        query.stop()
    except (Py4JError, StreamingQueryException) as error:
        _log.warning("query_stop", reason=type(error).__name__)


def _reason(query: StreamingQuery) -> str:
    error: Any = query.exception()
    lines = [line.strip() for line in str(error or "no reason given").splitlines() if line.strip()]
    # the innermost error is the last one a traceback names
    errors = [line for line in lines if "Error" in line or "Exception" in line] or lines
    return f"{lines[0]} … {errors[-1]}"[:1000]
