"""Health checks: a process is up when it answers."""

from __future__ import annotations

from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.embedded import kafka, postgres
from tripline_demo.processes import ports
from tripline_demo.stack.program import Check


def http_ready(port: int, user: int | None = None) -> Check:
    """`/readyz` on a loopback port says 200, from a process of that user, this one by default: keys go there next."""

    def check() -> bool:
        if not ports.is_ours(port, user):
            return False
        # asked often: a client that loads certificates each time would take the machine from what is to start
        with closing(HTTPConnection(ports.LOOPBACK, port, timeout=3)) as connection:
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == HTTPStatus.OK
            except (OSError, HTTPException):
                return False

    return check


def postgres_ready(dsn: str, port: int) -> Check:
    """The server takes connections with a password."""
    return lambda: ports.is_open(port) and postgres.is_ready(dsn)


def kafka_ready(cluster: KafkaCluster) -> Check:
    """The broker answers."""
    return lambda: kafka.is_ready(cluster)
