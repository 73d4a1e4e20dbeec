"""Creates the topics that the contracts declare, protects those that exist, and says who may use them how much.

`python -m tripline_demo.topics`, cluster and administrator in TRIPLINE_KAFKA….
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import tenacity
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from tripline_contracts import topics as contract
from tripline_contracts.errors import InvalidKafkaSettings
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_demo import kafka_quotas, kafka_rights
from tripline_demo.errors import DemoError, KafkaFailed

SECONDS = 30.0


def create(
    cluster: KafkaCluster, topics: Iterable[contract.Topic] | None = None, clock: contract.Clock = "wall"
) -> list[str]:
    """Creates what is missing, with partitions and settings of the contract for that clock; returns their names.

    A topic that exists keeps its settings but for the protective ones of the contract, which it gets. What was created
    can be read and written when this returns. Raises KafkaFailed.
    """
    declared = contract.all_topics() if topics is None else list(topics)
    wanted = [
        NewTopic(
            t.name,
            num_partitions=t.partitions,
            replication_factor=1,
            config=t.creation_config(clock),
        )
        for t in declared
    ]
    admin = AdminClient({**cluster.client_config(), "log_level": 3})
    created: list[str] = []
    for name, outcome in admin.create_topics(wanted, operation_timeout=SECONDS).items():
        try:
            outcome.result(SECONDS)
            created.append(name)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise KafkaFailed(f"Topic {name} could not be created: {failure.args[0].str()}") from failure
    protect(admin, [topic for topic in declared if topic.name not in created], clock)
    try:
        _until_led(admin, [topic for topic in wanted if topic.topic in created])
    except KafkaException as failure:
        raise KafkaFailed(
            f"New topics cannot be read after {SECONDS:g} s: {failure.args[0].str()}"
        ) from failure
    return created


def protect(
    admin: AdminClient, topics: Iterable[contract.Topic], clock: contract.Clock = "wall"
) -> list[str]:
    """Gives topics that exist the protective settings of the contract; the names of those that lacked one.

    Raises KafkaFailed.
    """
    asked = {ConfigResource(ResourceType.TOPIC, topic.name): topic for topic in topics}
    if not asked:
        return []
    lacking: list[ConfigResource] = []
    try:
        for resource, answer in admin.describe_configs(list(asked), request_timeout=SECONDS).items():
            present, topic = answer.result(SECONDS), asked[resource]
            wanted = topic.creation_config(clock)
            entries = [
                ConfigEntry(name, wanted[name], incremental_operation=AlterConfigOpType.SET)
                for name in contract.PROTECTIVE
                if name in wanted and present[name].value != wanted[name]
            ]
            if entries:
                lacking.append(ConfigResource(ResourceType.TOPIC, topic.name, incremental_configs=entries))
        if lacking:
            for altered in admin.incremental_alter_configs(lacking, request_timeout=SECONDS).values():
                altered.result(SECONDS)
    except KafkaException as failure:
        raise KafkaFailed(f"Settings of topics cannot be changed: {failure.args[0].str()}") from failure
    return [resource.name for resource in lacking]


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(KafkaException),
    wait=tenacity.wait_fixed(0.05),
    stop=tenacity.stop_after_delay(SECONDS),
    reraise=True,
)
def _until_led(admin: AdminClient, topics: list[NewTopic]) -> None:
    """Asks the leader of every new partition for its end.

    A topic is known to all before the broker that is to lead a partition has taken it over: for an instant it answers
    NOT_LEADER_FOR_PARTITION.
    """
    end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    places = [TopicPartition(t.topic, partition) for t in topics for partition in range(t.num_partitions)]
    if places:
        for outcome in admin.list_offsets(dict.fromkeys(places, end), request_timeout=SECONDS).values():
            outcome.result(SECONDS)


def main() -> int:
    """Creates the topics of the contracts on the cluster of TRIPLINE_KAFKA, and gives its identities their rights.

    Passwords of identities are set where TRIPLINE_KAFKA_IDENTITIES is a folder that has them; quotas are as
    TRIPLINE_KAFKA_QUOTAS says.
    """
    clock = os.environ.get("TRIPLINE_CLOCK", "wall")
    if clock not in {"wall", "data"}:
        print(f"TRIPLINE_CLOCK is {clock}: it is wall, or data for old data.", file=sys.stderr)
        return 2
    quotas = os.environ.get(kafka_quotas.VARIABLE, "set")
    if quotas not in kafka_quotas.CHOICES:
        print(
            f"{kafka_quotas.VARIABLE} is {quotas}: it is {', '.join(kafka_quotas.CHOICES)}.", file=sys.stderr
        )
        return 2
    try:
        cluster = kafka_cluster(os.environ)
    except InvalidKafkaSettings as problem:
        print(problem, file=sys.stderr)
        return 2
    try:
        created = create(cluster, clock="data" if clock == "data" else "wall")
        if cluster.sasl:
            _let_in(cluster, os.environ.get("TRIPLINE_KAFKA_IDENTITIES"), quotas)
    except (DemoError, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"created: {', '.join(created) or 'none, all are there'}", file=sys.stderr)
    return 0


def _let_in(cluster: KafkaCluster, passwords: str | None, quotas: kafka_quotas.Choice) -> None:
    made = kafka_rights.make_identities(cluster, Path(passwords)) if passwords else []
    changes = kafka_rights.give_rights(cluster)
    print(f"identities: {', '.join(made) or 'none made here'}; rights changed: {changes}", file=sys.stderr)
    print(f"quotas changed: {kafka_quotas.apply(cluster, quotas)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
