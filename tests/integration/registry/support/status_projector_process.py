"""Real status projectors, and what shards say to them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer

from tests.registry import RegistryApi, command
from tests.servers import PostgresServer
from tripline_demo.processes import ports


@contextmanager
def projector(
    postgres: PostgresServer, api: RegistryApi, kafka: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Starts `rules-registry status-projector`; ended at the end at the latest."""
    (port,) = ports.free_ports(1)
    environment = {
        **os.environ,
        "TRIPLINE_REGISTRY_DSN": postgres.login(api.dsn, "tripline_registry_status"),
        "TRIPLINE_KAFKA": kafka,
        "TRIPLINE_METRICS_BIND": f"127.0.0.1:{port}",
    }
    with log.open("ab") as output:
        process = subprocess.Popen(command("status-projector"), env=environment, stderr=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def say(kafka: str, *values: object) -> None:
    """Puts records into rule-status.v1: bytes and None as they are, anything else as JSON."""
    producer = Producer({"bootstrap.servers": kafka})
    for value in values:
        text = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
        producer.produce("rule-status.v1", value=text)
    assert producer.flush(60) == 0
