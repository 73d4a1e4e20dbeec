"""The job: its stages on Spark, how far they are, and their alerts in one order."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.storagelevel import StorageLevel

from tripline_engine.backtest.counted_alerts import counted_alerts, unpacked
from tripline_engine.backtest.evaluation import Take
from tripline_engine.backtest.on_spark.course import Course, judged_work
from tripline_engine.backtest.on_spark.file_units import Reported, whole_reports
from tripline_engine.backtest.on_spark.grid_tasks import reading
from tripline_engine.backtest.on_spark.log_units import Logs
from tripline_engine.backtest.on_spark.plan import Plan, plan_of
from tripline_engine.backtest.on_spark.work import ALERT, COUNTED, REPORT, Fault, Work
from tripline_engine.backtest.ordered.event_cells import CELL
from tripline_engine.backtest.ordered.file_history import Files
from tripline_engine.backtest.ordered.recorded_file import FileReport
from tripline_engine.backtest.tried import Progressed, Tried, not_told
from tripline_engine.backtest.tried_rules import TriedRule, tuning_of
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader
from tripline_engine.errors import EngineError
from tripline_engine.prover.settings import Judged
from tripline_engine.spark.query.batch_session import start_batch_session
from tripline_engine.spark.query.worker_start import start_workers

_PACKED: Final = "shardKey int, kind byte, number long, payload binary"
_JUDGEMENTS: Final = "kind byte, eventTime long, alertId string, payload binary"
_SHARDS_PER_CORE: Final = 2
"""So many that one which is done early leaves no core idle for long."""
_BYTES_AT_ONCE: Final = 16 << 20
_LOOK_SECONDS: Final = 0.5
_OURS: Final = re.compile(r"^\s*tripline_engine(?:\.\w+)+: (.+)$", re.MULTILINE)
"""The last line of a traceback of Python's that ends in an error of this package."""


class JobFailed(EngineError):
    """A task failed as often as Spark tries one; the message is the task's, or Spark's."""


def judge_on(
    master: str,
    shards: int | None,
    rules: Sequence[TriedRule],
    span: Span,
    tried_on: Files | Logs,
    judged: Judged,
    take: Take,
    progressed: Progressed,
) -> tuple[Tried, list[FileReport]]:
    """`backtest_on_spark` with a session of its own. Raises BadSettings for a cluster without a secret, too."""
    session = start_batch_session(master)
    try:
        _started(session)
        count = shards or _SHARDS_PER_CORE * session.sparkContext.defaultParallelism
        return backtest_on_spark(OnSpark(session, count), rules, span, tried_on, judged, take, progressed)
    finally:
        session.stop()


def _started(session: SparkSession) -> None:
    try:
        start_workers(session)
    except (PySparkException, Py4JError) as error:
        raise _failed(error) from error


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Where a history is judged, and in how many shards.

    :ivar cell: transactions in a cell of the grid of event times, on average
    :ivar bytes_at_once: of alerts that the driver gets at a time, about; it holds twice as many
    :ivar fault: what a test has tasks do
    """

    session: SparkSession
    shards: int
    cell: int = CELL
    bytes_at_once: int = _BYTES_AT_ONCE
    fault: Fault | None = None


def backtest_on_spark(
    spark: OnSpark,
    rules: Sequence[TriedRule],
    span: Span,
    tried_on: Files | Logs,
    judged: Judged,
    take: Take,
    progressed: Progressed = not_told,
) -> tuple[Tried, list[FileReport]]:
    """As `backtest_files`, `backtest_today` or `backtest`, whose alerts these are, in the order of event time, then id.

    Behind them come those that are counted alone, micro-batch by micro-batch.

    Raises UnreadableRecording, RecordsMissing, OrderBroken, JobFailed.
    """
    started = time.monotonic()
    plan = plan_of(spark.shards, rules, span, tried_on, judged, progressed)
    work = replace(plan.work, tuning=tuning_of(rules), cell=spark.cell, fault=spark.fault)
    judgements = _judgements(spark.session, plan, work).persist(StorageLevel.DISK_ONLY)
    reader = AlertReader(judged.event_type, span, is_compared=False)
    reports: list[Reported] = []
    batches, transactions = plan.batches, 0
    try:
        at_once = spark.session.sparkContext.defaultParallelism
        course = Course(progressed, at_once, judged_work(rules), plan.work_done)
        size = _run(spark.session, judgements, course)
        parts = _in_order(judgements, 1 + size // spark.bytes_at_once)
        # Of a query Spark keeps all that its jobs gave until it ends, and each part is one job: an RDD is no query.
        for row in parts.rdd.toLocalIterator(prefetchPartitions=True):
            payload = bytes(row["payload"])
            if row["kind"] == REPORT:
                reports.append(msgspec.json.decode(payload, type=Reported))
            elif row["kind"] == ALERT:
                alert = reader.read(payload)
                assert alert is not None  # the task has read it
                take(alert)
            elif row["kind"] == COUNTED:
                for occasion in unpacked(payload):
                    for one in counted_alerts(occasion, judged.event_type):
                        take(one)
            else:
                some = msgspec.json.decode(payload, type=tuple[int, int])
                batches, transactions = batches + some[0], transactions + some[1]
    except (PySparkException, Py4JError) as error:
        raise _failed(error) from error
    finally:
        judgements.unpersist()
    progressed(course.whole, course.whole, transactions)
    tried = Tried(work.config.engine_id, batches, transactions, time.monotonic() - started)
    return tried, whole_reports(reports, plan.files)


def _judgements(session: SparkSession, plan: Plan, work: Work) -> DataFrame:
    """Nothing is done yet. Each unit is a task, and so is each shard: its key is in a partition of its own."""
    units = session.range(0, plan.source.count, 1, plan.source.count)
    packed = units.mapInArrow(reading(work, plan.source), _PACKED)
    by_shard = packed.repartition(work.config.shards, F.col("shardKey"))
    return by_shard.mapInArrow(plan.judging(work), _JUDGEMENTS)


def _in_order(judgements: DataFrame, parts: int) -> DataFrame:
    """Parts of about the same size, one after the other: the driver gets each of them whole."""
    order = ("kind", "eventTime", "alertId")
    return judgements.repartitionByRange(parts, *order).sortWithinPartitions(*order)


def _run(session: SparkSession, judgements: DataFrame, course: Course) -> int:
    """Has Spark do it, and looks how far it is; whoever waits may end it. The bytes of all judgements."""
    failed: list[Exception] = []
    sizes: list[int] = []

    def judge() -> None:
        try:
            [(size,)] = judgements.agg(F.sum(F.length("payload"))).collect()
            sizes.append(size or 0)
        except (PySparkException, Py4JError) as error:
            failed.append(error)

    thread = threading.Thread(target=judge, name="backtest", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK_SECONDS)
            course.tell(_tasks(session))
    finally:
        if thread.is_alive():
            session.sparkContext.cancelAllJobs()
            thread.join()
    if failed:
        raise failed[0]
    return sizes[0]


def _tasks(session: SparkSession) -> list[tuple[int, int]]:
    """Finished tasks, and how many there are, of reading and of judging. Spark tells late how many run."""
    tracker: Any = session.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
    stages = sorted(stage for job in jobs if job is not None for stage in job.stageIds)
    told = [info for stage in stages if (info := tracker.getStageInfo(stage)) is not None]
    return [(one.numCompletedTasks, one.numTasks) for one in told][:2]


def _failed(error: Exception) -> EngineError:
    """What a task says of our own, without the way there; else Spark's message."""
    ours = _OURS.findall(str(error))
    if ours:
        return JobFailed(f"Spark's job failed: {ours[-1]}")
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\tat ")]
    return JobFailed("Spark's job failed: {}".format("\n".join(lines)[:2_000]))
