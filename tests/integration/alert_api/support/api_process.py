"""The alert API as a running process on a real database with alerts in it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

from alert_api.adapters.postgres_intake import PostgresIntake
from tests.integration.alert_api.support.servers import eventually
from tests.unit.alert_api.support.samples import commanded, received
from tripline_demo.processes import leash, ports
from tripline_http.keys.roles import ROLES

KEYS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "ada-key-for-tests": (
        "ada",
        {"scopes": ["alerts:read", "alerts:ack", "rules:read", "controls:write", "rules:approve"]},
    ),
    "bob-key-for-tests": ("bob", {"scopes": ["alerts:read", "alerts:ack", "controls:write"]}),
    "viewer-key-for-tests": ("viewer", {"scopes": ["alerts:read"]}),
    # A key of the registry's as well: the console's proxy hands on known keys only.
    "analyst-key-for-tests": ("analyst", {"scopes": ["rules:read"]}),
    **{f"{role}-of-role-for-tests": (f"an-{role}", {"role": role}) for role in ROLES},
}
"""Name and rights of each key; `{role}-of-role-for-tests` has a role."""


@dataclass(frozen=True, slots=True)
class LiveApi:
    """Where it is."""

    url: str

    def client(self, key: str = "ada-key-for-tests") -> httpx.Client:
        """A client with this key; close it. It needs no certificates, which take longer to load than any call."""
        return httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=60, verify=False
        )


def seed(projector_dsn: str, alerts: Sequence[dict[str, Any]], voids: Sequence[dict[str, Any]] = ()) -> None:
    """Store alerts, and commands that void, the way the projector does, with its rights."""
    with PostgresIntake(projector_dsn) as intake:
        commands = [commanded(void) for void in voids]
        assert intake.store([received(alert) for alert in alerts], [], commands) == len(alerts)


@contextmanager
def live_api(
    api_dsn: str,
    folder: Path,
    registry_url: str = "http://127.0.0.1:9",
    kafka: str = "",
    more: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[LiveApi]:
    """`alert-api api` with the API's own database role, and more settings; port 9 is where no registry is."""
    keys = folder / "keys.json"
    keys.write_text(
        json.dumps(
            [
                {"name": name, "sha256": hashlib.sha256(key.encode()).hexdigest(), **rights}
                for key, (name, rights) in KEYS.items()
            ]
        )
    )
    keys.chmod(0o600)
    (port,) = ports.free_ports(1)
    settings = {
        "TRIPLINE_ALERTS_DSN": api_dsn,
        "TRIPLINE_API_KEYS_FILE": str(keys),
        "TRIPLINE_HTTP_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_REGISTRY_URL": registry_url,
        "TRIPLINE_KAFKA": kafka,
        "TRIPLINE_LOG_LEVEL": "warning",
        **more,
    }
    command = [str(Path(sys.executable).with_name("alert-api")), "api"]
    process = leash.start(command, log=folder / "api.log", environment={**os.environ, **settings})
    try:
        eventually(lambda: is_ready(port), "the API is ready")
        yield LiveApi(f"http://127.0.0.1:{port}")
    finally:
        process.stop()


def is_ready(port: int) -> bool:
    """Whether /readyz says so."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2, verify=False).status_code == 200
    except httpx.TransportError:
        return False
