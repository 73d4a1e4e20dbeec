"""Streaming queries of the engine in one process, each on topics, checkpoint and projection of its own.

The slow part of an engine's start is the JVM, the session and Spark's code getting warm. So here one process does that
once, and then what `tripline-engine run` does with its session, per history: checkpoint, processor, query; one after
another or several at once, and where a process was killed another one goes on. There's no ticker: a history brings its
ticks. Told on standard input: `start <prefix> <shards> <records per micro-batch> <ms between micro-batches>
[<fault point> <company>]`, `stop <prefix>`; each is answered on standard output by the same words. Settings as for the
engine; the prefix names folders too. (TRIPLINE_FAULT_POINT says that there will be fault points, and nothing else.)
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tripline_engine import logs
from tripline_engine.spark.checkpoint import checkpoint
from tripline_engine.spark.faults.fault_points import FaultPoint, parse_fault_point
from tripline_engine.spark.query.jvm_class_cache import class_cache_for
from tripline_engine.spark.query.processor import ShardProcessor
from tripline_engine.spark.query.query import start_query
from tripline_engine.spark.query.session import start_session
from tripline_engine.spark.settings import EngineSettings, from_environment
from tripline_engine.spark.state.stored_state import StoredState

_LARGE = 2_500


def start(
    session: SparkSession,
    common: EngineSettings,
    prefix: str,
    sizes: tuple[int, int, int],
    stack: ExitStack,
    fault: FaultPoint | None,
) -> StreamingQuery:
    """What tripline_engine.spark.driver.engine does, but for ticker and signals.

    :param sizes: shards, records of a micro-batch, ms from one to the next
    """
    shards, most, interval = sizes
    settings = replace(
        common,
        checkpoint=common.checkpoint / prefix,
        projection_dir=common.projection_dir / prefix,
        topic_prefix=prefix,
        shards=shards,
        max_transactions_per_batch=most,
        batch_interval_ms=interval,
    )
    stack.enter_context(checkpoint.exclusive(settings.checkpoint))
    config = checkpoint.open_config(settings.checkpoint, settings.event_type, settings.shards, settings.clock)
    settings.projection_dir.mkdir(parents=True, exist_ok=True)
    # histories are short here: nearly every segment is a file all the same
    stored = StoredState(settings.checkpoint, checkpoint.state_format(settings.checkpoint), large=_LARGE)
    processor = ShardProcessor(config, stored, settings.projection_dir, prefix, fault)
    # a session of its own: two active queries of one session may not have the same name
    new_session = session.newSession()
    new_session.conf.set("spark.sql.shuffle.partitions", str(shards))
    query = start_query(new_session, settings, config, processor, fault)
    if fault:
        fault.watch(query)
    return query


def fault_point(words: list[str]) -> FaultPoint | None:
    """From a point and how many there are."""
    match words:
        case [text, company]:
            point = parse_fault_point(text, os.getpid())
            return point and replace(point, company=int(company))
    return None


def end_with(query: StreamingQuery) -> None:
    """A query that fails ends this process, so that nobody waits for it."""
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        print(str(error)[-3000:], file=sys.stderr, flush=True)
        os._exit(1)


def main() -> None:
    settings = from_environment()
    logs.configure(settings.log_level)
    archive = class_cache_for(settings.class_cache, settings.jars) if settings.class_cache else None
    # one that others have written: to write it would hold up the end of this process, and nobody would keep it
    existing = archive if archive and archive.file.exists() else None
    session = start_session(settings, shards=1, archive=existing)
    running: dict[str, tuple[StreamingQuery, ExitStack]] = {}
    for line in sys.stdin:
        match line.split():
            case ["start", prefix, shards, most, interval, *words]:
                stack, fault = ExitStack(), fault_point(words)
                sizes = int(shards), int(most), int(interval)
                query = start(session, settings, prefix, sizes, stack, fault)
                running[prefix] = query, stack
                threading.Thread(target=end_with, args=(running[prefix][0],), daemon=True).start()
            case ["stop", prefix]:
                query, stack = running.pop(prefix)
                query.stop()
                stack.close()
        print(line.strip(), flush=True)
    session.stop()


if __name__ == "__main__":
    main()
