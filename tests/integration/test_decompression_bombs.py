"""Records that are small on the wire and unfold to hundreds of megabytes in a reader: the broker takes none."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from tripline_contracts import topics as contract
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics

pytestmark = [pytest.mark.integration, pytest.mark.slow]

MEBIBYTE = 1 << 20
SECONDS = 60


def producer(kafka: str, codec: str) -> Producer:
    """One that sends whatever it is given."""
    return Producer(
        {
            "bootstrap.servers": kafka,
            "compression.type": codec,
            "message.max.bytes": 1_000_000_000,
            "log_level": 0,
        }
    )


def sent(kafka: str, topic: str, codec: str, size: int) -> KafkaError | None:
    """A record of so many bytes that are all the same; the broker's refusal, if it refuses."""
    outcomes: list[KafkaError | None] = []

    def told(error: KafkaError | None, _message: Message) -> None:
        outcomes.append(error)

    sender = producer(kafka, codec)
    sender.produce(topic, b'{"a":"' + b"x" * size + b'"}', on_delivery=told)
    assert sender.flush(SECONDS) == 0
    return outcomes[0]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("codec", "mebibytes"), [("gzip", 64), ("zstd", 64), ("lz4", 64), ("gzip", 2), ("zstd", 200)]
)
def test_the_broker_measures_what_it_stores(kafka: str, codec: str, mebibytes: int) -> None:
    topics.create(KafkaCluster(kafka))
    for topic in ("transactions.v1", "alerts.v1", "engine-ticks.v1"):
        refused = sent(kafka, topic, codec, mebibytes * MEBIBYTE)
        assert refused is not None, topic
        assert sent(kafka, topic, codec, 60_000) is None, f"{topic}: good ones go on, compressed too"


def test_a_topic_of_an_earlier_release_is_protected(kafka: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    names = {"transactions.v1": "old-transactions", "engine-ticks.v1": "old-ticks"}
    for name in names.values():
        config = {"message.timestamp.type": "CreateTime", "retention.ms": "1000000"}
        created = NewTopic(name, num_partitions=1, replication_factor=1, config=config)
        admin.create_topics([created])[name].result(SECONDS)
    assert sent(kafka, "old-transactions", "gzip", 4 * MEBIBYTE) is None, "so it was"
    old = [
        contract.Topic(**{**{m: getattr(made, m) for m in made.__dataclass_fields__}, "name": name})
        for made, name in ((contract.load(known), name) for known, name in names.items())
    ]
    assert topics.create(KafkaCluster(kafka), old) == []
    assert sent(kafka, "old-transactions", "gzip", 4 * MEBIBYTE) is not None
    settings = {name: configured(admin, name) for name in names.values()}
    assert settings["old-ticks"]["message.timestamp.type"] == "LogAppendTime"
    assert settings["old-transactions"]["message.timestamp.type"] == "CreateTime"
    assert {setting["retention.ms"] for setting in settings.values()} == {"1000000"}, "the rest is as it was"
    assert topics.protect(admin, old) == []


def configured(admin: AdminClient, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    return {
        name: entry.value
        for name, entry in admin.describe_configs([resource])[resource].result(SECONDS).items()
    }
