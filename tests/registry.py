"""A real rules registry for tests: its API as a process of its own on a migrated database, and clients for it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.servers import PostgresServer
from tripline_demo.processes import leash, ports
from tripline_http.keys.roles import ROLES, SCOPES

READY_SECONDS = 120.0
KEYS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    # More than any role has, so that a test needs one client only.
    "analyst-key-for-tests": ("analyst", {"scopes": ["rules:read", "rules:write", "controls:write"]}),
    "second-key-for-tests": ("second", {"scopes": ["rules:read", "rules:write"]}),
    "author-approver-for-tests": ("both", {"scopes": ["rules:read", "rules:write", "rules:approve"]}),
    "viewer-key-for-tests": ("viewer", {"scopes": ["rules:read"]}),
    "everything-key-for-tests": ("everybody", {"scopes": sorted(SCOPES)}),
    **{f"{role}-of-role-for-tests": (f"an-{role}", {"role": role}) for role in ROLES},
}
"""Name and rights of each key; `{role}-of-role-for-tests` has a role."""
DEFINITION: Mapping[str, object] = {
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "1000.01",
    "windowSeconds": 1200,
}


@dataclass(frozen=True, slots=True)
class RegistryApi:
    """Where a running registry is."""

    url: str
    dsn: str

    def client(self, key: str = "analyst-key-for-tests") -> httpx.Client:
        """A client with this key; close it. It needs no certificates, which take longer to load than any call."""
        return httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=60, verify=False
        )


def write_keys(folder: Path) -> Path:
    """The key file of `KEYS`."""
    entries = [
        {"name": name, "sha256": hashlib.sha256(key.encode()).hexdigest(), **rights}
        for key, (name, rights) in KEYS.items()
    ]
    path = folder / "keys.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    path.chmod(0o600)
    return path


def command(*words: str) -> list[str]:
    """The console script of this environment."""
    return [str(Path(sys.executable).with_name("rules-registry")), *words]


@contextmanager
def running_process(words: list[str], environment: Mapping[str, str], log: Path) -> Iterator[leash.Leashed]:
    """One of the registry's processes, ended at the end at the latest."""
    process = leash.start(command(*words), log=log, environment={**os.environ, **environment})
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def running_api(
    postgres: PostgresServer, admin_dsn: str, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[RegistryApi]:
    """The API, ready, with the rights of its own database role and no more; `settings` are added to its own."""
    (port,) = ports.free_ports(1)
    environment = {
        "TRIPLINE_REGISTRY_DSN": postgres.login(admin_dsn, "tripline_registry_api"),
        "TRIPLINE_API_KEYS_FILE": str(write_keys(folder)),
        "TRIPLINE_HTTP_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_LOG_LEVEL": "warning",
        "TRIPLINE_FOUR_EYES": "false",
        **(settings or {}),
    }
    with running_process(["api"], environment, folder / "api.log") as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, process)
        yield RegistryApi(url, admin_dsn)


def wait_until_ready(url: str, process: leash.Leashed) -> None:
    """Until /readyz says so."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        assert process.is_running(), process.last_lines()
        try:
            if httpx.get(f"{url}/readyz", timeout=2, verify=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"{url} was not ready in {READY_SECONDS:.0f} s: {process.last_lines()}")
