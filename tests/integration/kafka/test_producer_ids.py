"""Records under a producer's id that are not its own. Ids are small numbers in a row: anybody can guess them.

A broker numbers the records of a producer, for each partition: what has the next number is taken, what has one that
was there is confirmed and dropped, and a newer epoch of an id shuts the older one out (fencing).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from rules_registry.adapters.publisher import Publisher, open_publisher
from rules_registry.domain.outbox_event import OutboxEvent
from tests.integration.kafka.support.forged_batch import ForgedBatch, send
from tests.secured_kafka import SecuredKafka
from tripline_contracts.kafka import access as kafka_access
from tripline_contracts.kafka.access import Identity
from tripline_contracts.record_batches.batch import RecordBatch
from tripline_contracts.record_batches.fetch_client import FetchClient
from tripline_demo.generator.output.kafka_outlet import KafkaOutlet
from tripline_demo.generator.output.outlet import Record

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECONDS = 90.0
RULES, TRANSACTIONS = "rules.v1", "transactions.v1"
TOPIC_REFUSED = KafkaError.TOPIC_AUTHORIZATION_FAILED
TRANSACTION_REFUSED = KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
TAKEN = 0
LAST_EPOCH = 32_767
SILENT = logging.getLogger("tests.producer_ids")  # librdkafka prints what is fatal, at any level
SILENT.disabled = True
each_identity = pytest.mark.parametrize("identity", kafka_access.identities(), ids=lambda one: one.name)
engine_topics = pytest.mark.parametrize(
    "topic",
    [name for one in kafka_access.identities() if one.name == "tripline-engine" for name in one.writes],
)


def batches_of(secured: SecuredKafka, topic: str, *, committed: bool = False) -> list[RecordBatch]:
    """All batches of a topic's first partition, as they are stored."""
    host, _, port = secured.administrator.servers.partition(":")
    with FetchClient(secured.administrator, host, int(port)) as client:
        return client.fetch(topic, 0, 0, 1 << 20, committed=committed).batches


def event(position: int) -> OutboxEvent:
    return OutboxEvent(position, f"event-{position}", "RulePaused", 1, 1_000, {"position": position})


def confirmation(producer: Producer, topic: str) -> int | None:
    """None where a record was confirmed, else the error's code."""
    outcome: list[KafkaError | None] = []
    producer.produce(topic, b"{}", partition=0, on_delivery=lambda error, _: outcome.append(error))
    assert producer.flush(SECONDS) == 0
    [error] = outcome
    return None if error is None else int(error.code())


def numbering(secured: SecuredKafka, identity: str) -> Producer:
    """A producer as ours are: its records are numbered, and it uses no transactions."""
    config: dict[str, Any] = {**secured.as_identity(identity).client_config(), "log_level": 0}
    return Producer({**config, "enable.idempotence": True, "linger.ms": 0})


def forgeries(producer: int) -> Iterator[ForgedBatch]:
    """The number that its owner will give next, and newer epochs."""
    yield ForgedBatch(producer, 0, 1)
    yield ForgedBatch(producer, 1, 0)
    yield ForgedBatch(producer, LAST_EPOCH, 0)


def deliver_amid_forgeries(secured: SecuredKafka, relay: Publisher) -> list[RecordBatch]:
    """What the relay's topic holds after it has delivered, was forged by a source, and has delivered again."""
    source = secured.as_identity("tripline-source")
    relay.deliver([event(1)])
    producer = batches_of(secured, RULES)[-1].producer
    before = len(batches_of(secured, RULES))
    for forged in forgeries(producer):
        assert send(source, RULES, forged) == TOPIC_REFUSED
        assert send(source, TRANSACTIONS, forged) == TAKEN  # it may write there, under any id
    relay.deliver([event(2)])
    return batches_of(secured, RULES)[before - 1 :]


def test_the_relay_keeps_its_id_whatever_a_source_writes(secured: SecuredKafka) -> None:
    """The same producer goes on: an id that was shut out would be another one, or an error."""
    with open_publisher(secured.as_identity("tripline-relay")) as relay:
        first, second = deliver_amid_forgeries(secured, relay)
    assert first.producer == second.producer >= 0


@engine_topics
def test_the_engine_keeps_its_id_whatever_anybody_writes(secured: SecuredKafka, topic: str) -> None:
    engine = numbering(secured, "tripline-engine")
    assert confirmation(engine, topic) is None
    before = batches_of(secured, topic)
    for identity in kafka_access.identities():
        if identity.name != "tripline-engine":
            for forged in forgeries(before[-1].producer):
                assert send(secured.as_identity(identity.name), topic, forged) == TOPIC_REFUSED, identity.name
    assert confirmation(engine, topic) is None
    after = batches_of(secured, topic)
    assert [batch.producer for batch in after] == [batch.producer for batch in [*before, before[-1]]]


@each_identity
def test_nobody_has_a_transactional_id(secured: SecuredKafka, identity: Identity) -> None:
    """None of ours uses one, so none is given: whoever took another's would shut it out."""
    for name in ("tripline-relay", "tripline-engine", identity.name):
        config: dict[str, Any] = {**secured.as_identity(identity.name).client_config(), "log_level": 0}
        producer = Producer({**config, "transactional.id": name}, logger=SILENT)
        with pytest.raises(KafkaException) as refused:
            producer.init_transactions(SECONDS)
        assert refused.value.args[0].code() == TRANSACTION_REFUSED


@each_identity
def test_nobody_leaves_a_transaction_open(secured: SecuredKafka, identity: Identity) -> None:
    """Readers of committed records, the engine's among them, would wait at it for ever."""
    cluster = secured.as_identity(identity.name)
    for topic in identity.writes:
        for transactional_id in (None, "tripline-relay"):
            forged = ForgedBatch(4_711, is_transactional=True)
            assert send(cluster, topic, forged, transactional_id) == TRANSACTION_REFUSED
        everything, committed = batches_of(secured, topic), batches_of(secured, topic, committed=True)
        assert len(everything) == len(committed)


class TestAmongSources:
    """Who may write to a topic may use anybody's id there: so source systems are told to have none."""

    def test_a_record_may_be_confirmed_and_lost(self, secured: SecuredKafka) -> None:
        victim, another = numbering(secured, "tripline-generator"), secured.as_identity("tripline-source")
        assert confirmation(victim, TRANSACTIONS) is None
        producer = batches_of(secured, TRANSACTIONS)[-1].producer
        assert send(another, TRANSACTIONS, ForgedBatch(producer, 0, 1)) == TAKEN
        before = len(batches_of(secured, TRANSACTIONS))
        assert confirmation(victim, TRANSACTIONS) is None
        assert len(batches_of(secured, TRANSACTIONS)) == before

    def test_an_id_may_be_shut_out_for_good(self, secured: SecuredKafka) -> None:
        victim, another = numbering(secured, "tripline-generator"), secured.as_identity("tripline-source")
        assert confirmation(victim, TRANSACTIONS) is None
        producer = batches_of(secured, TRANSACTIONS)[-1].producer
        assert send(another, TRANSACTIONS, ForgedBatch(producer, LAST_EPOCH, 0)) == TAKEN
        for _ in range(3):
            assert confirmation(victim, TRANSACTIONS) == KafkaError.INVALID_PRODUCER_EPOCH

    def test_the_generator_has_no_id_to_take(self, secured: SecuredKafka) -> None:
        before = len(batches_of(secured, TRANSACTIONS))
        outlet = KafkaOutlet(secured.as_identity("tripline-generator"))
        for number in range(100):  # as many keys reach each partition
            outlet.send(Record(str(number).encode(), b"{}", time.time_ns() // 1_000_000))
        assert outlet.flush(SECONDS) == 0
        written = batches_of(secured, TRANSACTIONS)[before:]
        assert {batch.producer for batch in written} == {-1}
