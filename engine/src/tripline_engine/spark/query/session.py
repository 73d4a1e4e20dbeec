"""The Spark session, configured for small micro-batches; refuses settings that break the engine.

Each setting here was measured: together they take a stateful Python micro-batch from some 240 ms to under 100.
"""

from __future__ import annotations

import os
import sys
from importlib import resources
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tripline_engine.errors import BadSettings
from tripline_engine.spark.query.jvm_class_cache import ClassCache
from tripline_engine.spark.settings import EngineSettings

_STATE: Final = "spark.sql.streaming.stateStore"
_HADOOP: Final = "spark.hadoop."
_SHARED_BY: Final = "spark.authenticate.secret"

# With few rows, writing the text of a projection costs more than interpreting it, in every micro-batch, even where the
# class that it stands for is known. With a hundred thousand it pays.
SMALL_BATCHES: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
}
LARGE_BATCHES: Final = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    # a record batch grows by doubling, is copied each time, and is cleared for the next one: in a core's cache that is
    # nothing, in tens of megabytes a third of what such a task costs
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
}

EVERY_SESSION: Final[dict[str, str]] = {
    # over TCP every hand-over to Python waits 42 ms for a delayed acknowledgement
    "spark.python.unix.domain.socket.enabled": "true",
    # forks workers that have everything imported
    "spark.python.daemon.module": "tripline_engine.spark.worker.worker_daemon",
    # as it is for the stateful stage: with other variables each stage would have a daemon and workers of its own
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    # the RPC of driver and executors deserialises Java objects: from nobody who lacks the session's secret. A local
    # master draws one of its own; a cluster has to be given one (docs/scaling.md), and is refused without
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    # two attempts of one task at once would both write a shard's projection
    "spark.speculation": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""What a session for a batch job has too."""

_PURPOSE: Final[dict[str, str]] = {
    **EVERY_SESSION,
    **SMALL_BATCHES,
    # Hadoop's local file system forks chmod for every file (25 ms each); this one doesn't
    f"{_HADOOP}fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # a snapshot writes out RocksDB's memory, and only the newest one of a minute is kept: a restart reads the changes
    # since that one
    f"{_STATE}.minDeltasForSnapshot": "400",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # at the end of each micro-batch; otherwise they stay until the JVM collects all of its garbage, hours of traffic
    "spark.sql.classic.shuffleDependency.fileCleanup.enabled": "true",
    "spark.locality.wait": "0",
    # a micro-batch broadcasts two or three small things, each in a new block of this size, 4 MB unless told: that was a
    # third of all that the JVM had to clear and to collect
    "spark.broadcast.blockSize": "256k",
    # nobody looks at what Spark remembers of past jobs, and it keeps a thousand of them, and a hundred thousand tasks
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
    # Spark has the whole heap collected every so often, half an hour unless told. The first time all that lives moves
    # to the old generation, a tenth more than it had, and what micro-batches leave there in between takes pages that
    # nothing has touched before: after ten minutes, at a third of a second each, the heap is as large as it will be
    "spark.cleaner.periodicGC.interval": "10min",
    # a sample of how long each listener takes lives for a minute, long enough to come into the old part of the heap
    "spark.scheduler.listenerbus.metrics.maxListenerClassesTimed": "0",
}

# glibc keeps apart what each thread has freed, in up to eight arenas for each core, and what is free in one is of no
# use to another: RocksDB, the compilers and a thread for each task made the JVM grow by megabytes a minute.
_MALLOC: Final = "MALLOC_ARENA_MAX"
_ARENAS: Final = "2"

# Even so each compilation of a long method leaves tens of megabytes free between what is kept, which glibc gives back
# to the system only when it is told to: every half a minute, in 1 to 20 ms. A JVM that can't is left alone.
_TRIM: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockExperimentalVMOptions -XX:TrimNativeHeapInterval=30000"
)

# The JVM calls the driver back over a port of loopback. With Java threads pinned to Python's it has no secret, and
# whoever shares the machine may call the driver's listener in its place; unpinned, both sides know the gateway's.
PINNED: Final = "PYSPARK_PIN_THREAD"

# History and windows are not in the JVM's heap; what is lives for one micro-batch or for some seconds. Survivors large
# enough for that keep it out of the old generation, whose collections stop everything for a third of a second. Two
# cores that others use too gain nothing by two threads that wait for each other.
_GARBAGE: Final = "-XX:+UseSerialGC -XX:SurvivorRatio=4 -XX:MetaspaceSize=256m"


def _heap(mebibytes: int) -> str:
    """Heap options: a third for the young generation; half of the heap committed and touched at the start.

    Otherwise each small promotion into the old generation would touch new pages as long as the engine runs: resident
    memory that only grows.
    """
    return f"-Xmn{mebibytes // 3}m -Xms{mebibytes // 2}m -XX:+AlwaysPreTouch"


def start_session(settings: EngineSettings, shards: int, archive: ClassCache | None = None) -> SparkSession:
    """A session for the engine. Raises BadSettings where the environment contradicts what the engine needs."""
    if not any(settings.jars.glob("spark-sql-kafka-*.jar")):
        raise BadSettings(f"TRIPLINE_JARS: no Kafka connector for Spark in {settings.jars}")
    # workers have to run the same interpreter, with the same packages
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault(_MALLOC, _ARENAS)
    os.environ[PINNED] = "false"
    builder = SparkSession.Builder().appName("tripline-engine").master(settings.spark_master)
    for key, value in {**_PURPOSE, **_deployment(settings, shards, archive)}.items():
        builder = builder.config(key, value)
    session = created(builder)
    session.sparkContext.setLogLevel("ERROR")
    refuse_speculation(session)
    refuse_strange_callers(session)
    _forget_defaults(session)
    return session


def created(builder: SparkSession.Builder) -> SparkSession:
    """The session of a builder. Raises BadSettings for a cluster without a shared secret."""
    try:
        return builder.getOrCreate()
    except Py4JJavaError as error:
        if _SHARED_BY in str(error.java_exception):
            raise BadSettings(
                f"{_SHARED_BY}: a cluster needs a shared secret, in spark-defaults.conf of master, workers and of this"
                " engine (SPARK_CONF_DIR); see docs/scaling.md"
            ) from error
        raise


def _forget_defaults(session: SparkSession) -> None:
    """Drops Hadoop's default values, and keeps those that a site or the session has set.

    Spark broadcasts all of it in every micro-batch, compressing where each of its thousand values came from: 5 ms.
    What Hadoop reads has its default in the code too.
    """
    jvm = session.sparkContext._jvm  # noqa: SLF001  # the only way to Hadoop's configuration
    assert jvm is not None  # the session has just been made
    set_by_site = jvm.org.apache.hadoop.conf.Configuration(False)
    set_by_site.addResource("core-site.xml")
    kept = {entry.getKey(): entry.getValue() for entry in set_by_site.iterator()}
    for name, value in session.sparkContext.getConf().getAll():
        if name.startswith(_HADOOP):
            kept[name.removeprefix(_HADOOP)] = value
    configuration = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
    configuration.clear()
    for name, value in kept.items():
        configuration.set(name, value)


def refuse_speculation(session: SparkSession) -> None:
    """A speculative attempt would write the same shard's projection at the same time: not with this engine."""
    if session.conf.get("spark.speculation", "false") == "true":
        session.stop()
        raise BadSettings("spark.speculation: must be false, two attempts of a task can't share a shard")


def refuse_strange_callers(session: SparkSession) -> None:
    """Calls from the JVM have to prove that they are: a gateway that lets anybody call is not used."""
    gateway = session.sparkContext._gateway  # noqa: SLF001  # nothing public tells
    assert gateway is not None  # the session has just been made
    if not gateway.callback_server_parameters.auth_token:
        session.stop()
        raise BadSettings(
            f"{PINNED}: must be false, else any user of this machine can call the engine's driver"
        )


def log_option() -> str:
    """The JVM's option that names our configuration of its log."""
    configuration = Path(str(resources.files("tripline_engine.spark") / "log4j2.properties"))
    return f"-Dlog4j2.configurationFile={configuration.as_uri()}"


def _deployment(settings: EngineSettings, shards: int, archive: ClassCache | None) -> dict[str, str]:
    return {
        # on the class path and not in spark.jars: the launcher needs the file system earlier
        "spark.driver.extraClassPath": f"{settings.jars}/*",
        "spark.driver.extraJavaOptions": (
            f"{_GARBAGE} {_heap(settings.driver_mebibytes)} {_TRIM}"
            f" {log_option()} {archive.options if archive else ''}"
        ),
        f"spark.executorEnv.{_MALLOC}": os.environ[_MALLOC],
        # extraJavaOptions are left to the cluster
        "spark.executor.defaultJavaOptions": _TRIM,
        "spark.executor.extraClassPath": f"{settings.jars}/*",
        "spark.driver.memory": f"{settings.driver_mebibytes}m",
        # with nothing new Spark asks Kafka again after 10 ms unless told: half a core, broker included, for nothing. It
        # matters to the first record after a silence only: under load there is always more
        "spark.sql.streaming.pollingDelay": str(settings.poll_ms),
        **({"spark.driver.host": "127.0.0.1"} if settings.is_local else {}),
        "spark.sql.shuffle.partitions": str(shards),
        # a fault point waits for tasks to be done, and Spark's status has to say so at once
        "spark.ui.liveUpdate.period": "0" if settings.fault_point else "10s",
    }
