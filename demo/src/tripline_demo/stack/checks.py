"""How one knows that a process is up: it answers."""

from __future__ import annotations

import httpx

from tripline_demo import kafka, ports, postgres
from tripline_demo.stack.program import Check


def http_ready(port: int) -> Check:
    """`/readyz` on a loopback port says 200."""

    def check() -> bool:
        if not ports.is_open(port):
            return False
        try:
            return (
                httpx.get(f"http://{ports.LOOPBACK}:{port}/readyz", timeout=3, trust_env=False).status_code
                == 200
            )
        except httpx.HTTPError:
            return False

    return check


def postgres_ready(dsn: str, port: int) -> Check:
    """The server takes connections with a password."""
    return lambda: ports.is_open(port) and postgres.is_ready(dsn)


def kafka_ready(bootstrap_servers: str) -> Check:
    """The broker answers."""
    return lambda: kafka.is_ready(bootstrap_servers)
