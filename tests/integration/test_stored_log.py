"""Topics read as they are stored, against what a client library reads."""

from __future__ import annotations

import hashlib
from random import Random

import pytest
from confluent_kafka import Producer

from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import BEFORE_PROTECTION, LargeRecordLog, large_value
from tripline_contracts.record_batches.records import Cut
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.kafka_log.record import Headers
from tripline_engine.kafka_log.stored_log import KEPT_BYTES, StoredLog, cut_of, record_from
from tripline_engine.kafka_log.topic_log import OffsetsGone, TopicLog

pytestmark = [pytest.mark.integration]

START = 1_763_690_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HEADERS: tuple[Headers, ...] = (
    (),
    (("backfill", b"7"), ("ce_id", b"\x00\xff")),
    (("twice", b"1"), ("twice", None)),
)
KEEP = 4 << 20
WHOLE = 1 << 40


@pytest.fixture
def log(kafka: str, request: pytest.FixtureRequest) -> LargeRecordLog:
    log = LargeRecordLog(kafka, f"{request.node.name[5:25]}-")
    log.create(**BEFORE_PROTECTION)
    return log


def test_every_codec_is_read_as_by_a_client_library(log: LargeRecordLog) -> None:
    rng, name = Random(1), log.prefix + "transactions.v1"
    for codec in CODECS:
        producer = Producer(
            {"bootstrap.servers": log.kafka, "compression.type": codec, "linger.ms": 50, "log_level": 0}
        )
        for number in range(400):
            value = rng.choice([None, b"", b"x" * 5_000, rng.randbytes(rng.randrange(3_000))])
            producer.produce(
                name, value, rng.choice([None, b"", b"k"]), partition=0, timestamp=START + rng.randrange(10**6),
                headers=list(HEADERS[number % 3]),
            )  # fmt: skip
        assert producer.flush(60) == 0
    with TopicLog(log.cluster, name) as topic:
        span = topic.span(0)
        by_library = [record for run in topic.records(0, *span) for record in run]
        stored = StoredLog(topic)
        assert [record_from(record, 0) for record in stored.records(0, *span, KEEP)] == by_library
        assert len(by_library) == 400 * len(CODECS)
        # from within one batch into another
        part = [record_from(record, 0) for record in stored.records(0, 777, 1_501, KEEP)]
        assert part == by_library[777:1_501]
        assert {batch.codec.name.lower() for batch in stored.batches(0, *span)} == set(CODECS)


def test_the_survey_names_the_end_of_the_last_large_batch(log: LargeRecordLog) -> None:
    name, small = log.prefix + "transactions.v1", Sent("transactions.v1", b"{}")
    for codec in CODECS[1:]:
        log.send_batch(codec, [small] * 3)
        log.send_batch(codec, [small, Sent("transactions.v1", large_value(20)), small])
    log.send([small] * 5)
    with TopicLog(log.cluster, name) as topic:
        stored, end = StoredLog(topic), topic.span(0).until
        whole = stored.survey(0, 0, 0, end, WHOLE)
        assert (whole.until, whole.large_until, whole.large) == (end, end - 5, 4)
        behind = stored.survey(0, end - 5, 0, end, WHOLE)
        assert (behind.until, behind.large_until, behind.large) == (end, None, 0)
        # no further than it has to
        assert stored.survey(0, 0, 5, end, 0).until == 6


def test_what_is_deleted_is_told(log: LargeRecordLog) -> None:
    log.send([Sent("transactions.v1", b"{}")] * 20)
    log.delete("transactions.v1", {0: 4, 1: 0})
    with TopicLog(log.cluster, log.prefix + "transactions.v1") as topic, pytest.raises(OffsetsGone):
        list(StoredLog(topic).records(0, 0, 20, KEEP))


def test_who_reads_all_of_a_topic_gets_the_beginnings_of_large_values(log: LargeRecordLog) -> None:
    name, large = log.prefix + "transactions.v1", large_value(20)
    log.send([Sent("transactions.v1", b"{}")] * 5)
    log.send_batch("zstd", [Sent("transactions.v1", value) for value in (b"1", large, b"2")])
    log.send([Sent("transactions.v1", b"{}")] * 3)
    with CarefulLog(log.cluster, name) as topic:
        records = [record for run in topic.records(0, 0, topic.span(0).until) for record in run]
        assert [record.offset for record in records] == list(range(11))
        assert [record.value for record in records[:6]] == [b"{}"] * 5 + [b"1"]
        assert (records[6].value, records[7].value) == (large[:KEPT_BYTES], b"2")
        assert cut_of(records[6]) == Cut(len(large), hashlib.sha256(large).hexdigest())
        assert {cut_of(record) for record in records if record.offset != 6} == {None}
        assert [record.offset for run in topic.records(0, 7, 9) for record in run] == [7, 8]
