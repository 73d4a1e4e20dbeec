"""Records of 64, 200 and 400 MB that an earlier release let in, compressed: refused, and the line goes on.

One comes to an engine that runs, which ends once; the others are there when the next one starts. Each size and each
codec comes once; in `make soak` each size in each codec.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.support.archiver_process import running_archiver
from tests.e2e.support.engine_process import Workplace, run_engine, running_engine
from tests.e2e.support.garbage import payment
from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import BEFORE_PROTECTION, LargeRecordLog, Peaks, large_value
from tests.e2e.support.verdict import read_verdict
from tests.e2e.support.waiting import eventually
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_contracts.event_type_loader import load
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_engine.archive.file_store import FileStore
from tripline_engine.kafka_log.stored_log import KEPT_BYTES
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends, initial_ends

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

T = 1_763_690_000_000
Bombs = list[tuple[int, str]]
SOME: Bombs = [(64, "gzip"), (200, "lz4")]
"""What is there at a start; 400 MB in zstd have come before."""
EACH: Bombs = [(mebibytes, codec) for mebibytes in (64, 200, 400) for codec in ("gzip", "zstd", "lz4")]
MOST_WORKER, MOST_DRIVER, MOST_ARCHIVER = 500, 500, 500
"""MiB of resident memory that a Python process may come to: half again as much as without any such record."""
MOST_JAVA = 2_048 + 1_024
"""MiB: the heap, and what a JVM has beside it."""
RULES = (
    draft("COUNT", ">=", "1", by=()),
    draft("COUNT", ">=", "3", by=("payeeId",), seconds=3_600),
)
Told = Callable[[str, object], None]


class Traffic:
    """Good payments, and large records among them."""

    def __init__(self, log: LargeRecordLog) -> None:
        self.log, self._numbers, self._registry = log, count(), Registry()
        self.lengths: dict[tuple[int, int], int] = {}
        self.hashes: dict[tuple[int, int], str] = {}

    def publish(self, rule_id: int) -> None:
        event = self._registry.publish(rule_id, RULES[rule_id - 1], 0, T)
        self.log.send([Sent("rules.v1", event)])

    def good(self, partition: int) -> Sent:
        number = next(self._numbers)
        return Sent("transactions.v1", payment(number, T + number), partition, T + number)

    def send_good(self, partition: int) -> None:
        self.log.send([self.good(partition) for _ in range(20)])

    def send_large(self, codec: str, mebibytes: int, partition: int) -> None:
        """In one record batch with good ones before and behind it."""
        value = large_value(mebibytes)
        position = partition, self.log.ends("transactions.v1")[partition] + 1
        self.lengths[position], self.hashes[position] = len(value), hashlib.sha256(value).hexdigest()
        large = Sent("transactions.v1", value, partition, T + next(self._numbers))
        self.log.send_batch(codec, [self.good(partition), large, self.good(partition)])
        self.send_good(partition)

    def assert_judged(self) -> None:
        """All alerts as the oracle has them, and a dead letter for each large record that says what it was."""
        verdict = read_verdict(self.log)
        verdict.assert_equal()
        rejects = {position: record.headers for position, record in verdict.rejects.items()}
        assert {position: int(told["length"]) for position, told in rejects.items()} == self.lengths
        assert {position: told["sha256"].decode() for position, told in rejects.items()} == self.hashes
        assert {told["reason"] for told in rejects.values()} == {b"oversized"}


@pytest.fixture
def traffic(kafka: str, request: pytest.FixtureRequest) -> Traffic:
    log = LargeRecordLog(kafka, f"{request.node.name[5:20]}-{uuid4().hex[:8]}-")
    log.create(**BEFORE_PROTECTION)
    return Traffic(log)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "bombs", [pytest.param(SOME, id="some"), pytest.param(EACH, id="each", marks=pytest.mark.soak)]
)
def test_they_end_the_engine_once_and_are_refused_archived_and_read_again(
    java: Java, jars: Jars, kafka: str, tmp_path: Path, traffic: Traffic, bombs: Bombs, record_property: Told
) -> None:
    workplace = Workplace(java, jars, kafka, tmp_path)
    settings = {"TRIPLINE_TOPIC_PREFIX": traffic.log.prefix}
    what_comes_while_it_runs_ends_it(traffic, workplace, settings)
    traffic.log.send_batch("lz4", [Sent("engine-ticks.v1", large_value(200))])
    for number, (mebibytes, codec) in enumerate(bombs):
        traffic.send_good(number % 2)
        traffic.send_large(codec, mebibytes, number % 2)
    with running_engine(workplace, settings) as engine:
        peaks = Peaks(engine.process)
        wait(traffic, workplace, peaks)
        traffic.send_good(0)
        wait(traffic, workplace, peaks)
    traffic.assert_judged()
    archiving = all_is_archived(traffic, workplace)
    record_property("told", f"MiB: engine {peaks.mebibytes}, archiver {archiving.mebibytes}")
    assert_bounded(peaks)
    assert archiving.mebibytes["main"] < MOST_ARCHIVER
    if bombs is EACH:
        all_is_read_again(traffic, workplace, settings)


def what_comes_while_it_runs_ends_it(
    traffic: Traffic, workplace: Workplace, settings: dict[str, str]
) -> None:
    """A large one among the rules is there when it starts; one among the payments is not."""
    log = traffic.log
    traffic.publish(1)
    log.send_batch("gzip", [Sent("rules.v1", large_value(200))])
    traffic.publish(2)
    traffic.send_good(0)
    with running_engine(workplace, settings) as engine:
        wait(traffic, workplace)
        # no survey knows of it, for these topics still take it
        traffic.send_large("zstd", 400, 1)
        eventually(lambda: not engine.is_running(), "it ends")
    # what a careful source would begin with, had the first micro-batch ended the engine
    name = log.prefix + "transactions.v1"
    assert initial_ends(spark_folder(workplace.checkpoint), 1) == {name: {0: 0, 1: 0}}
    assert "Java heap space" in workplace.log.read_text(errors="replace")


def all_is_read_again(traffic: Traffic, workplace: Workplace, settings: dict[str, str]) -> None:
    """The recorded order over the archive's beginnings is what was judged."""
    shutil.rmtree(workplace.checkpoint)
    rebuilt = run_engine(workplace, settings, "rebuild")
    assert rebuilt.code == 0, rebuilt.said
    with running_engine(workplace, settings):
        traffic.send_good(1)
        wait(traffic, workplace)
    traffic.assert_judged()


def all_is_archived(traffic: Traffic, workplace: Workplace) -> Peaks:
    """Of large ones their beginnings; what the archiver's memory came to."""
    log = traffic.log
    with running_archiver(log.kafka, workplace.archive, log.prefix) as archiver:
        archiving, records = Peaks(archiver.process), sum(log.ends("transactions.v1").values())
        eventually(
            lambda: archiving.look() and archiver.metric("tripline_archiver_records_total") >= records,
            "all transactions are kept",
        )
        eventually(lambda: archiver.metric("tripline_archiver_lag_records") == 0, "all is kept")
    topic = log.prefix + "transactions.v1"
    assert lengths_in_archive(workplace.archive, topic) == dict.fromkeys(traffic.lengths, KEPT_BYTES)
    return archiving


def wait(traffic: Traffic, workplace: Workplace, peaks: Peaks | None = None) -> None:
    """Until committed micro-batches have all that was sent, with an eye on memory."""
    log, spark = traffic.log, spark_folder(workplace.checkpoint)
    names = ("rules.v1", "transactions.v1")
    sent = {log.prefix + name: log.ends(name) for name in names}

    def is_judged() -> bool:
        judged = committed_ends(spark)
        return (peaks is None or peaks.look()) and all(
            judged.get(name) == ends for name, ends in sent.items()
        )

    eventually(is_judged, "all is judged", 180)


def assert_bounded(peaks: Peaks) -> None:
    assert peaks.mebibytes["worker"] < MOST_WORKER
    assert peaks.mebibytes["main"] < MOST_DRIVER
    assert peaks.mebibytes["java"] < MOST_JAVA


def lengths_in_archive(archive: Path, topic: str) -> dict[tuple[int, int], int]:
    """Of the records with a cut value: how much the archive has."""
    store = FileStore(archive, load().name, topic)
    return {
        (record.partition, record.offset): len(record.value or b"")
        for files in store.files().values()
        for file in files
        for run in store.records(file)
        for record in run
        if "tripline-cut" in dict(record.headers)
    }
