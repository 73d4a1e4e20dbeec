"""Recordings of other systems on a real broker: what came of them, and what the engine made of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.generator_client import Generator, running_generator, until
from tripline_contracts import topics as contract_topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics
from tripline_demo.generator.output.kafka_outlet import TOPIC
from tripline_demo.generator.recordings.kafka_engine import ORDER, REJECTED, RULES

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def generator(kafka: str) -> Iterator[Generator]:
    topics.create(
        KafkaCluster(kafka), [contract_topics.load(name) for name in (TOPIC, ORDER, REJECTED, RULES)]
    )
    with running_generator(kafka) as generator:
        yield generator


MAPPED = b"""Ref;Seconds;From;Kind;Amount;Note
m1;1622548800;25;card;1.234,5;x
m2;1622548801;25;card;12,34.5;x
"""
MAPPING = """\
decimalComma: true
thousands: "."
fields:
  transactionId: Ref
  eventTime: {column: Seconds, form: epoch-seconds}
  payeeId: From
  paymentType: {column: Kind, values: {card: CRD}}
  paymentAmount: Amount
"""


def test_a_recording_of_another_system_is_read_by_a_mapping(generator: Generator) -> None:
    begin = generator.end()
    answer = generator.http.post(
        "/v1/replays",
        params={"speed": "max", "shift": "none", "ids": "new", "mapping": MAPPING},
        content=gzip.compress(MAPPED),
        headers={"Content-Type": "application/gzip"},
    )
    done = generator.finished(answer.json())
    assert (done["state"], done["sent"], done["bad"], done["unusedColumns"]) == ("finished", 1, 1, ["Note"])
    assert "does not have '.' between thousands" in done["badLines"][0]["reason"]
    (value,) = [json.loads(record.value() or b"") for record in generator.read(begin)]
    assert (value["eventTime"], value["paymentAmount"], value["paymentType"]) == (
        1_622_548_800_000,
        "1234.5",
        "CRD",
    )
    assert value["transactionId"] not in ("m1", "m2")


@pytest.mark.parametrize(
    ("mapping", "content", "field"),
    [
        (None, b"transactionId,x\n1,2\n", "body"),
        (MAPPING.replace("CRD", "CARD"), MAPPED, "query.mapping.fields.paymentType.values.card"),
        ("fields: 5", MAPPED, "query.mapping.fields"),
    ],
)
def test_what_cannot_be_read_at_all_is_refused_with_a_sentence(
    generator: Generator, mapping: str | None, content: bytes, field: str
) -> None:
    params = {} if mapping is None else {"mapping": mapping}
    answer = generator.http.post(
        "/v1/replays", params=params, content=content, headers={"Content-Type": "text/csv"}
    )
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == field


AGAIN = b"""transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount
r1,2021-06-01 12:00:00,25,12,CSH,600
r2,2021-06-01 12:00:01,25,12,CSH,600
r3,2021-06-01 12:00:02,25,12,CSH,600
"""


class JudgingEngine:
    """Writes what an engine writes of its micro-batches, each of all that is there."""

    def __init__(self, kafka: str, generator: Generator) -> None:
        self._producer, self._generator, self._sequence = Producer({"bootstrap.servers": kafka}), generator, 0
        self._judged = generator.end()

    def judge(self, refused: Sequence[tuple[int, int]] = ()) -> None:
        """One micro-batch of all that came, and an empty one behind it."""
        end = self._generator.end()
        for partition, offset in refused:
            place_of = {
                "topic": TOPIC,
                "partition": str(partition),
                "offset": str(offset),
                "reason": "too_late",
            }
            self._producer.produce(REJECTED, b"{}", headers=list(place_of.items()))
        self._order([
            {"partition": number, "from": first, "until": last, "maxRecordTime": 0}
            for number, (first, last) in enumerate(zip(self._judged, end, strict=True))
            if first < last
        ])  # fmt: skip
        self._order([])
        self._judged = end
        self._producer.flush(10)

    def _order(self, parts: list[dict[str, int]]) -> None:
        order = {
            "engine": "e", "sequence": self._sequence, "eventType": "transaction", "anchors": ["payeeId"], "shards": 1,
            "rules": None, "ticks": None, "transactions": parts,
        }  # fmt: skip
        self._sequence += 1
        self._producer.produce(ORDER, json.dumps(order).encode())


def in_kafka(generator: Generator, **options: str) -> dict[str, Any]:
    """A replay whose lines are all in Kafka, and of which the engine has said nothing."""
    answer = generator.http.post(
        "/v1/replays",
        params={"speed": "max", "shift": "none", **options},
        content=AGAIN,
        headers={"Content-Type": "text/csv"},
    )
    done = generator.finished(answer.json())
    assert (done["sent"], done["failed"], done["engine"]) == (3, 0, None)
    return done


def received(generator: Generator, replay: dict[str, Any]) -> dict[str, Any]:
    path = f"/v1/replays/{replay['replayId']}"
    until(lambda: generator.http.get(path).json()["engine"])
    engine: dict[str, Any] = generator.http.get(path).json()["engine"]
    return engine


def test_the_report_tells_what_the_engine_took_refused_and_knew(kafka: str, generator: Generator) -> None:
    engine = JudgingEngine(kafka, generator)
    nothing = {"taken": 0, "known": 0, "refused": [], "waiting": 0, "unheard": None}

    begin = generator.end()
    first = in_kafka(generator)
    (late,) = [
        record
        for record in generator.read(begin)
        if json.loads(record.value() or b"")["transactionId"] == "r2"
    ]
    engine.judge([(late.partition() or 0, late.offset() or 0)])
    refused = [{"reason": "too_late", "count": 1}]
    assert received(generator, first) == {**nothing, "taken": 2, "refused": refused}

    second = in_kafka(generator)
    engine.judge()
    # of what was refused the engine does not know the id
    assert received(generator, second) == {**nothing, "taken": 1, "known": 2}

    new = in_kafka(generator, ids="new")
    engine.judge()
    assert received(generator, new) == {**nothing, "taken": 3}

    left = in_kafka(generator)
    assert generator.http.delete(f"/v1/replays/{left['replayId']}").status_code == 200
    assert received(generator, left) == {**nothing, "waiting": 3}
