"""Creates the topics that the contracts declare: `python -m tripline_demo.topics`, broker in TRIPLINE_KAFKA."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tripline_contracts import topics as contract
from tripline_demo.errors import DemoError, KafkaFailed

SECONDS = 30.0


def create(
    bootstrap_servers: str, topics: Iterable[contract.Topic] | None = None, clock: contract.Clock = "wall"
) -> list[str]:
    """Creates what is missing, with partitions and settings of the contract for that clock; returns their names.

    A topic that exists is left as it is. Raises KafkaFailed.
    """
    wanted = [
        NewTopic(
            t.name,
            num_partitions=t.partitions,
            replication_factor=1,
            config=t.creation_config(clock),
        )
        for t in (contract.all_topics() if topics is None else topics)
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 3})
    created: list[str] = []
    for name, outcome in admin.create_topics(wanted, operation_timeout=SECONDS).items():
        try:
            outcome.result(SECONDS)
            created.append(name)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise KafkaFailed(f"Topic {name} could not be created: {failure.args[0].str()}") from failure
    return created


def main() -> int:
    """Creates the topics of the contracts on the broker of TRIPLINE_KAFKA."""
    servers = os.environ.get("TRIPLINE_KAFKA")
    if not servers:
        print(
            "TRIPLINE_KAFKA is not set: give the broker's address, for example 127.0.0.1:9092.",
            file=sys.stderr,
        )
        return 2
    clock = os.environ.get("TRIPLINE_CLOCK", "wall")
    if clock not in {"wall", "data"}:
        print(f"TRIPLINE_CLOCK is {clock}: it is wall, or data for old data.", file=sys.stderr)
        return 2
    try:
        created = create(servers, clock="data" if clock == "data" else "wall")
    except DemoError as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"created: {', '.join(created) or 'none, all are there'}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
