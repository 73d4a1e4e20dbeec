"""Topics read as they are stored, against what a client library reads."""

from __future__ import annotations

from random import Random

import pytest
from confluent_kafka import Producer

from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import BEFORE_PROTECTION, LargeRecordLog, large_value
from tripline_engine.kafka_log.record import Headers
from tripline_engine.kafka_log.stored_log import StoredLog, record_from, survey
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
        whole = survey(stored, 0, 0, 0, end, WHOLE)
        assert (whole.until, whole.large_until, whole.large) == (end, end - 5, 4)
        behind = survey(stored, 0, end - 5, 0, end, WHOLE)
        assert (behind.until, behind.large_until, behind.large) == (end, None, 0)
        # no further than it has to
        assert survey(stored, 0, 0, 5, end, 0).until == 6


def test_what_is_deleted_is_told(log: LargeRecordLog) -> None:
    log.send([Sent("transactions.v1", b"{}")] * 20)
    log.delete("transactions.v1", {0: 4, 1: 0})
    with TopicLog(log.cluster, log.prefix + "transactions.v1") as topic, pytest.raises(OffsetsGone):
        list(StoredLog(topic).records(0, 0, 20, KEEP))
