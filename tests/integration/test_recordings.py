"""Recordings of other systems on a real broker: what came of them, and what the engine made of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

import pytest

from tests.generator_client import Generator, running_generator
from tripline_contracts import topics as contract_topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics
from tripline_demo.generator.output.kafka_outlet import TOPIC

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def generator(kafka: str) -> Iterator[Generator]:
    topics.create(KafkaCluster(kafka), [contract_topics.load(TOPIC)])
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
