"""The archiver against a real Kafka: killed again and again, and what Kafka deletes is read back byte for byte."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from random import Random

import psutil
import pytest
from confluent_kafka import Producer

from tests.e2e.support.archiver_process import ARCHIVER, RunningArchiver, running_archiver, settings_of
from tests.e2e.support.garbage import anything, payment
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.waiting import eventually
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.journal import Cursor, Journal
from tripline_engine.archive.topic_consumer import TopicConsumer
from tripline_engine.errors import RecordsMissing
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.kafka_log.record import Headers, Record
from tripline_engine.kafka_log.topic_log import OffsetsGone, TopicLog

pytestmark = [pytest.mark.integration, pytest.mark.slow]

START = 1_763_690_000_000
DAY_MS = 86_400_000
TRANSACTIONS = "transactions.v1"
HEADERS: tuple[Headers, ...] = (
    (),
    (("backfill", b"7"), ("ce_id", b"\x00\xff")),
    (("twice", b"1"), ("twice", None)),
)


class Sender:
    """Sends to transactions.v1 of a log, and knows what Kafka has to give back, by partition."""

    def __init__(self, log: KafkaLog) -> None:
        self._topic = log.prefix + TRANSACTIONS
        self._producer = Producer(
            {"bootstrap.servers": log.kafka, "linger.ms": 0, "message.max.bytes": 4 << 20}
        )
        self._rng, self._made = Random(1), 0
        self.sent: dict[int, list[Record]] = defaultdict(list)

    def send(self, values: list[bytes | None]) -> None:
        """On both partitions by turns, some seconds apart, with keys and headers of all kinds."""
        for value in values:
            number, self._made = self._made, self._made + 1
            partition, key, headers = number % 2, self._rng.choice([None, b"", b"k"]), HEADERS[number % 3]
            time = START + number * DAY_MS // 200
            self._producer.produce(
                self._topic, value, key, partition=partition, timestamp=time, headers=list(headers)
            )
            sent = self.sent[partition]
            sent.append(Record(partition, len(sent), time, key, value, headers))
        assert self._producer.flush(60) == 0

    def payments(self, count: int) -> None:
        self.send([payment(self._made + n, START) for n in range(count)])


@pytest.fixture
def log(kafka: str, request: pytest.FixtureRequest) -> KafkaLog:
    log = KafkaLog(kafka, f"{request.node.name[:20]}-")
    log.create(**{"max.message.bytes": str(4 << 20)})
    return log


@pytest.fixture
def journal(log: KafkaLog, tmp_path: Path) -> Iterator[Journal]:
    with TopicLog(KafkaCluster(log.kafka), log.prefix + TRANSACTIONS) as topic:
        yield Journal(topic, FileStore(tmp_path / "archive", "transaction", topic.name))


def archiving(log: KafkaLog, folder: Path, **settings: str) -> AbstractContextManager[RunningArchiver]:
    return running_archiver(log.kafka, folder / "archive", log.prefix, **settings)


def has_written(archiver: RunningArchiver, before: float) -> bool:
    return archiver.metric("tripline_archiver_files_total") > before


def kill(archiver: RunningArchiver) -> None:
    """SIGKILL of the process itself, at the end of its leash."""
    for child in psutil.Process(archiver.process.process.pid).children():
        child.kill()
    eventually(lambda: not archiver.process.is_running(), "the archiver is dead")


@pytest.mark.timeout(600)
def test_killed_at_any_time_it_keeps_each_record_once_byte_for_byte(
    log: KafkaLog, journal: Journal, tmp_path: Path
) -> None:
    sender = Sender(log)
    sender.send(anything(Random(2)))
    # a file for every half second of records: many, and many to merge
    often = {"TRIPLINE_ARCHIVE_FLUSH_BYTES": "1"}
    for round_ in range(4):
        with archiving(log, tmp_path, **often) as archiver:
            for _ in range(4):
                before = archiver.metric("tripline_archiver_files_total")
                sender.payments(50 + 7 * round_)
                eventually(partial(has_written, archiver, before), "a file is written")
            sender.payments(100)
            kill(archiver)
    with archiving(log, tmp_path) as archiver:
        ends = log.ends(TRANSACTIONS)
        eventually(
            lambda: (
                {p: journal.archived_ranges(p) for p in ends}
                == {p: [OffsetRange(0, end)] for p, end in ends.items()}
            ),
            "all is archived",
        )
        eventually(lambda: archiver.metric("tripline_archiver_lag_records") == 0, "nothing is unwritten")
        assert archiver.metric("tripline_archiver_missing_records_total") == 0
    log.delete(TRANSACTIONS, {0: ends[0], 1: ends[1] - 20})
    sender.payments(30)
    for partition, sent in sender.sent.items():
        assert Cursor(journal, partition, 0).take(len(sent)) == sent
        assert next(journal.runs(partition, 17))[0] == sent[17]
    assert not [path for path in (tmp_path / "archive").rglob("*") if path.name.startswith(".aside")]
    assert len(list((tmp_path / "archive").rglob("*.parquet"))) < 40


@pytest.mark.timeout(300)
def test_told_to_stop_it_writes_what_it_has_read(log: KafkaLog, journal: Journal, tmp_path: Path) -> None:
    sender = Sender(log)
    with archiving(log, tmp_path, TRIPLINE_ARCHIVE_FLUSH_SECONDS="3600") as archiver:
        sender.payments(40)
        eventually(lambda: archiver.metric("tripline_archiver_waiting_records") == 40, "all is read")
        assert archiver.metric("tripline_archiver_lag_records") == 40
        assert not list((tmp_path / "archive").rglob("*.parquet"))
        second = subprocess.run(
            [ARCHIVER],
            env=settings_of(log.kafka, tmp_path / "archive", log.prefix),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (second.returncode, "another archiver is writing there" in second.stderr) == (1, True)
    assert {p: journal.archived_ranges(p) for p in (0, 1)} == {
        0: [OffsetRange(0, 20)],
        1: [OffsetRange(0, 20)],
    }


@pytest.mark.timeout(300)
def test_what_kafka_deleted_before_it_was_read_is_counted_and_named(
    log: KafkaLog, journal: Journal, tmp_path: Path
) -> None:
    sender = Sender(log)
    sender.payments(20)
    with archiving(log, tmp_path):
        eventually(lambda: journal.archived_ranges(0) == [OffsetRange(0, 10)], "the first are archived")
    sender.payments(40)
    log.delete(TRANSACTIONS, {0: 25, 1: 0})
    with archiving(log, tmp_path) as archiver:
        eventually(
            lambda: journal.archived_ranges(0) == [OffsetRange(0, 10), OffsetRange(25, 30)],
            "the rest is archived",
        )
        assert archiver.metric("tripline_archiver_missing_records_total") == 15
    with pytest.raises(
        RecordsMissing, match="partition 0: offsets 10 to 24 are neither in the topic nor in the archive"
    ):
        Cursor(journal, 0, 0).take(30)
    assert Cursor(journal, 1, 0).take(30) == sender.sent[1]
    told = subprocess.run(
        [ARCHIVER, "spans"],
        env=settings_of(log.kafka, tmp_path / "archive", log.prefix),
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert [line.partition(", 2025")[0] for line in told] == [
        f"{log.prefix}transactions.v1 partition 0: offsets 0 to 9",
        f"{log.prefix}transactions.v1 partition 0: offsets 25 to 29",
        f"{log.prefix}transactions.v1 partition 1: offsets 0 to 29",
    ]


def test_partitions_are_read_side_by_side(log: KafkaLog, journal: Journal) -> None:
    sender = Sender(log)
    sender.payments(12_400)  # more than a reader takes at once
    cursors = {partition: Cursor(journal, partition, 0) for partition in (0, 1)}
    for until in range(200, 6_400, 200):
        for partition, cursor in cursors.items():
            assert cursor.take(until) == sender.sent[partition][until - 200 : until]


def test_a_position_that_is_deleted_while_it_is_read_is_told(log: KafkaLog, journal: Journal) -> None:
    sender = Sender(log)
    sender.payments(20)
    log.delete(TRANSACTIONS, {0: 4, 1: 0})
    with pytest.raises(OffsetsGone):
        list(journal.topic.records(0, 0, 10))
    begun: list[int] = []

    def begin(file_range: tuple[str, int], span: OffsetRange) -> int:
        begun.append(file_range[1])
        return 0 if begun.count(file_range[1]) == 1 else span.first

    feed, read = TopicConsumer(KafkaCluster(log.kafka), [journal.topic.name], begin), list[Record]()
    feed.assign_new_partitions()

    def all_is_read() -> bool:
        read.extend(record for _, record in feed.read(0.2))
        return len(read) == 16

    eventually(all_is_read, "all is read")
    feed.close()
    assert sorted(begun) == [0, 0, 1]
    assert (
        sorted(read, key=lambda record: (record.partition, record.offset))
        == sender.sent[0][4:] + sender.sent[1]
    )
