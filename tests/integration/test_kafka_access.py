"""A broker that asks who its clients are: each identity tries what it may and what it may not."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AclBinding, AdminClient, NewTopic  # type: ignore[attr-defined]

from tests import secured_kafka
from tests.secured_kafka import SecuredKafka
from tripline_contracts import topics
from tripline_contracts.errors import BrokerSilent, FetchRefused
from tripline_contracts.kafka import access as kafka_access
from tripline_contracts.kafka.access import Identity
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.broker_connection import BrokerConnection
from tripline_contracts.record_batches.fetch_client import FetchClient
from tripline_demo import kafka_passwords, kafka_rights
from tripline_demo import topics as topics_job
from tripline_demo.deployment.certificates import certify
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import KafkaFailed
from tripline_engine.kafka_log.stored_log import StoredLog
from tripline_engine.kafka_log.topic_log import TopicLog

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECONDS = 90.0
REFUSED = KafkaError.TOPIC_AUTHORIZATION_FAILED
TOPICS = [topic.name for topic in topics.all_topics()]
each_identity = pytest.mark.parametrize("identity", kafka_access.identities(), ids=lambda one: one.name)


@pytest.fixture(scope="module")
def secured(java: Java, jars: Jars, servers_folder: Path) -> Iterator[SecuredKafka]:
    """Each topic has a record that its administrator has put there."""
    with secured_kafka.running(java, jars.broker, servers_folder / "secured-kafka") as running:
        topics_job.create(running.administrator)
        assert set(written(running.administrator).values()) == {None}
        yield running


def written(cluster: KafkaCluster) -> dict[str, int | None]:
    """What a record in each topic comes to: None where it was taken, else the error's code."""
    outcome: dict[str, int | None] = {}

    def report(error: KafkaError | None, message: Message) -> None:
        outcome[str(message.topic())] = None if error is None else error.code()

    producer = Producer({**cluster.client_config(), "log_level": 0})
    for name in TOPICS:
        producer.produce(name, b"{}", partition=0, on_delivery=report)
    assert producer.flush(SECONDS) == 0
    return outcome


def read(cluster: KafkaCluster, group: str) -> dict[str, int | None]:
    """What reading each topic comes to: None where a record came, else the error's code."""
    return {name: _read(cluster, group, name) for name in TOPICS}


def _read(cluster: KafkaCluster, group: str, topic: str) -> int | None:
    config: dict[str, Any] = {**cluster.client_config(), "log_level": 0, "enable.auto.commit": False}
    consumer = Consumer({**config, "group.id": group, "auto.offset.reset": "error"})
    deadline = time.monotonic() + SECONDS
    try:
        seen = consumer.list_topics(topic, SECONDS).topics[topic].error
        if seen is not None:  # not even its name: the client would wait for the topic to come
            return int(seen.code())
        consumer.assign([TopicPartition(topic, 0, 0)])
        while time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and ((error := message.error()) is None or error.code() == REFUSED):
                return None if error is None else REFUSED
    finally:
        consumer.close()
    raise AssertionError(f"neither a record of {topic} nor a refusal")


@each_identity
def test_it_writes_where_it_may_and_nowhere_else(secured: SecuredKafka, identity: Identity) -> None:
    allowed = {name: None if name in identity.writes else REFUSED for name in TOPICS}
    assert written(secured.as_identity(identity.name)) == allowed


@each_identity
def test_it_reads_what_it_may_and_nothing_else(secured: SecuredKafka, identity: Identity) -> None:
    allowed = {name: None if name in identity.reads else REFUSED for name in TOPICS}
    group = f"{(*identity.groups, 'any-')[0]}test"
    assert read(secured.as_identity(identity.name), group) == allowed


@each_identity
def test_it_moves_its_own_groups_and_no_others(secured: SecuredKafka, identity: Identity) -> None:
    """Who moves another's offsets hides records from it."""
    admin = AdminClient({**secured.as_identity(identity.name).client_config(), "log_level": 0})
    partition = TopicPartition((identity.reads or identity.writes)[0], 0, 0)
    for group in sorted({f"{prefix}x" for other in kafka_access.identities() for prefix in other.groups}):
        asked = ConsumerGroupTopicPartitions(group, [partition])
        [done] = admin.alter_consumer_group_offsets([asked]).values()
        code = outcome(partial(done.result, SECONDS))
        its_own = any(group.startswith(prefix) for prefix in identity.groups)
        assert code == (None if its_own else KafkaError.GROUP_AUTHORIZATION_FAILED), group


@each_identity
def test_it_administers_nothing(secured: SecuredKafka, identity: Identity) -> None:
    admin = AdminClient({**secured.as_identity(identity.name).client_config(), "log_level": 0})
    tried = [
        *admin.create_topics([NewTopic("new", 1, 1)]).values(),
        *admin.delete_topics(TOPICS).values(),
        *admin.create_acls([on_alerts(kafka_rights.bindings(identity)[0])]).values(),
    ]
    assert {outcome(partial(done.result, SECONDS)) for done in tried} <= {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }


def outcome(act: Callable[[], object]) -> int | None:
    """None, or the code of the error that it raises."""
    try:
        act()
    except KafkaException as failure:
        code: int = failure.args[0].code()
        return code
    return None


def on_alerts(right: AclBinding) -> AclBinding:
    """The same right, on alerts.v1."""
    return AclBinding(
        right.restype, "alerts.v1", right.resource_pattern_type, right.principal, "*", right.operation,
        right.permission_type,
    )  # fmt: skip


class TestWhoIsNotLetIn:
    def test_nobody_without_a_name(self, secured: SecuredKafka) -> None:
        authority = secured.administrator.ca_file
        servers = secured.administrator.servers
        assert not is_let_in(KafkaCluster(servers))
        assert not is_let_in(KafkaCluster(servers, "SSL", None, authority))

    def test_nobody_with_anothers_password(self, secured: SecuredKafka) -> None:
        engine = secured.as_identity("tripline-engine")
        assert engine.sasl
        wrong = secured.folder / kafka_passwords.file_name("tripline-source")
        assert is_let_in(engine)
        assert not is_let_in(replace(engine, sasl=replace(engine.sasl, password_file=wrong)))

    def test_nobody_in_clear(self, secured: SecuredKafka) -> None:
        engine = secured.as_identity("tripline-engine")
        assert not is_let_in(replace(engine, protocol="SASL_PLAINTEXT", ca_file=None))


class TestWhoIsNotTrusted:
    """Certificates are checked by clients: a password is given to the right broker alone."""

    def test_a_broker_of_another_authority(self, secured: SecuredKafka, tmp_path: Path) -> None:
        another = tmp_path / "another.pem"
        another.write_text(certify(["127.0.0.1"], dt.datetime.now(dt.UTC)).authority)
        assert not is_let_in(replace(secured.as_identity("tripline-engine"), ca_file=another))

    def test_a_broker_of_another_name(self, secured: SecuredKafka) -> None:
        engine = secured.as_identity("tripline-engine")
        assert not is_let_in(replace(engine, servers=engine.servers.replace("127.0.0.1", "localhost")))


def is_let_in(cluster: KafkaCluster) -> bool:
    """Whether the broker answers within two seconds."""
    admin = AdminClient({**cluster.client_config(), "log_level": 0})
    try:
        return bool(admin.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


class TestWhatIsOnlyAnnounced:
    """The broker reserves what a client says that it will send, so it may say little."""

    def test_before_login(self, secured: SecuredKafka) -> None:
        with opened(secured) as connection:
            connection.sendall(struct.pack(">i", 524_000) + b"\0\x11\0\1")
            assert connection.recv(1) == b""

    def test_by_whoever_has_a_name(self, secured: SecuredKafka) -> None:
        engine = secured.as_identity("tripline-engine")
        host, _, port = engine.servers.partition(":")
        with closing(BrokerConnection(engine, host, int(port))) as connection, pytest.raises(BrokerSilent):
            connection.request(3, 1, bytes(9 << 20))
        with closing(BrokerConnection(engine, host, int(port))) as connection:
            assert connection.request(3, 1, struct.pack(">i", 0))  # a question for no topic's metadata

    def test_connections_that_say_nothing_keep_nobody_out(self, secured: SecuredKafka) -> None:
        host, _, port = secured.administrator.servers.partition(":")
        with ExitStack() as stack:
            for _ in range(1_000):
                stack.enter_context(socket.create_connection((host, int(port)), SECONDS))
            assert is_let_in(secured.as_identity("tripline-engine"))
            assert written(secured.as_identity("tripline-source"))["transactions.v1"] is None


@contextmanager
def opened(secured: SecuredKafka) -> Iterator[ssl.SSLSocket]:
    context = ssl.create_default_context(cafile=secured.administrator.ca_file)
    host, _, port = secured.administrator.servers.partition(":")
    plain = socket.create_connection((host, int(port)), SECONDS)
    with context.wrap_socket(plain, server_hostname=host) as it:
        yield it


class TestRecordBatchesAsTheyAreStored:
    """A client of our own says who it is too."""

    def test_they_are_read_by_who_may(self, secured: SecuredKafka) -> None:
        for cluster in (secured.as_identity("tripline-engine"), secured.administrator):
            with TopicLog(cluster, "transactions.v1") as topic:
                records = list(StoredLog(topic).records(0, 0, 1, 100))
                assert [record.value for record in records] == [b"{}"]

    @pytest.mark.parametrize("name", ["tripline-relay", "tripline-source"])
    def test_and_by_nobody_else(self, secured: SecuredKafka, name: str) -> None:
        cluster = secured.as_identity(name)
        host, _, port = cluster.servers.partition(":")
        with FetchClient(cluster, host, int(port)) as client, pytest.raises(FetchRefused) as refused:
            client.fetch("transactions.v1", 0, 0, 1_000)
        assert refused.value.code == REFUSED

    def test_who_is_not_let_in_is_told_why(self, secured: SecuredKafka, tmp_path: Path) -> None:
        engine = secured.as_identity("tripline-engine")
        host, _, port = engine.servers.partition(":")
        another = tmp_path / "another.pem"
        another.write_text(certify(["127.0.0.1"], dt.datetime.now(dt.UTC)).authority)
        assert engine.sasl
        wrong = secured.folder / kafka_passwords.file_name("tripline-source")
        for cluster, said in (
            (replace(engine, sasl=replace(engine.sasl, password_file=wrong)), "[Aa]uthentication failed"),
            (
                replace(engine, sasl=replace(engine.sasl, mechanism="SCRAM-SHA-256")),
                "does not take SCRAM-SHA-256",
            ),
            (replace(engine, ca_file=another), "certificate verify failed"),
        ):
            with pytest.raises(BrokerSilent, match=rf"^127\.0\.0\.1:\d+: (?!127).*{said}"):
                FetchClient(cluster, host, int(port))
        with pytest.raises(BrokerSilent, match="certificate verify failed"):
            FetchClient(engine, "localhost", int(port))


class TestTheJob:
    def test_rights_are_what_the_file_says_and_nothing_besides(self, secured: SecuredKafka) -> None:
        admin = AdminClient({**secured.administrator.client_config()})
        [relay] = [identity for identity in kafka_access.identities() if identity.name == "tripline-relay"]
        surplus = on_alerts(kafka_rights.bindings(relay)[0])
        [done] = admin.create_acls([surplus]).values()
        done.result(SECONDS)
        assert kafka_rights.give_rights(secured.administrator) == 1
        assert kafka_rights.give_rights(secured.administrator) == 0

    def test_whoever_runs_it_has_to_be_allowed_to(self, secured: SecuredKafka) -> None:
        with pytest.raises(KafkaFailed, match=r"does not take the rights .* docs/kafka-access\.md"):
            kafka_rights.give_rights(secured.as_identity("tripline-engine"))

    def test_a_new_password_counts(self, secured: SecuredKafka, tmp_path: Path) -> None:
        source = secured.as_identity("tripline-source")
        fresh = tmp_path / kafka_passwords.file_name("tripline-source")
        secured_kafka.write(fresh, "a-new-one")
        assert kafka_rights.make_identities(secured.administrator, tmp_path) == ["tripline-source"]
        assert source.sasl
        assert is_let_in(replace(source, sasl=replace(source.sasl, password_file=fresh)))
        assert not is_let_in(source)
        assert "tripline-source" in kafka_rights.make_identities(secured.administrator, secured.folder)
        assert is_let_in(source)

    def test_a_broker_without_an_authoriser_is_named(self, kafka: str) -> None:
        with pytest.raises(KafkaFailed, match=r"authorizer\.class\.name"):
            kafka_rights.give_rights(KafkaCluster(kafka))
