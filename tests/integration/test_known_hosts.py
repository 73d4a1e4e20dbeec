"""A page whose name resolves to this machine (DNS rebinding), against the running services."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.alert_api.support.api_process import live_api
from tests.integration.alert_api.support.servers import eventually
from tests.registry import running_api, write_keys
from tests.servers import PostgresServer
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.integration

KEY = {"Authorization": "Bearer everything-key-for-tests"}
PATHS = {"registry": "/v1/rules", "alert-api": "/v1/session", "generator": "/v1/traffic"}


@pytest.fixture(params=[*PATHS])
def service(
    request: pytest.FixtureRequest,
    postgres: PostgresServer,
    migrated_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[str, str]]:
    """Base address of a service on loopback that is also called fraud.example, and a path that asks for a key."""
    monkeypatch.setenv("TRIPLINE_HTTP_HOSTS", "fraud.example")
    path = PATHS[request.param]
    match request.param:
        case "registry":
            with running_api(postgres, migrated_database, tmp_path) as registry:
                yield registry.url, path
        case "alert-api":
            with live_api(postgres.login(migrated_database, "tripline_alert_api"), tmp_path) as alerts:
                yield alerts.url, path
        case _:
            yield from generator(tmp_path, path)


def generator(folder: Path, path: str) -> Iterator[tuple[str, str]]:
    """It answers without Kafka too."""
    (port,) = ports.free_ports(1)
    url = f"http://127.0.0.1:{port}"
    settings = {
        "TRIPLINE_KAFKA": "127.0.0.1:9",
        "TRIPLINE_API_KEYS_FILE": str(write_keys(folder)),
        "TRIPLINE_HTTP_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_GENERATOR_RATE": "0",
    }
    command = [str(Path(sys.executable).with_name("tripline-generator"))]
    process = leash.start(command, log=folder / "generator.log", environment={**os.environ, **settings})
    try:
        eventually(lambda: status(url, "/livez", None) == 200, "the generator answers")
        yield url, path
    finally:
        process.stop()


def status(url: str, path: str, host: str | None) -> int:
    """0 where nobody answers."""
    named = {} if host is None else {"Host": host}
    try:
        return httpx.get(f"{url}{path}", headers={**KEY, **named}, timeout=5, verify=False).status_code
    except httpx.TransportError:
        return 0


def test_only_its_own_names_reach_it(service: tuple[str, str]) -> None:
    url, path = service
    port = url.rpartition(":")[2]
    known = {host: status(url, path, host) for host in ("fraud.example", f"localhost:{port}", None)}
    assert 421 not in known.values(), known
    assert 0 not in known.values(), known
    for foreign in ("attacker.example", f"attacker.example:{port}", "10.0.0.9", "0.0.0.0", ""):
        assert {asked: status(url, asked, foreign) for asked in (path, "/openapi.json", "/nowhere")} == {
            path: 421, "/openapi.json": 421, "/nowhere": 421,
        }, foreign  # fmt: skip
    assert [status(url, probe, "attacker.example") for probe in ("/livez", "/readyz", "/metrics")] == [
        421
    ] * 3


def test_a_kubelet_asks_by_address(service: tuple[str, str]) -> None:
    url, _ = service
    assert [status(url, probe, "10.0.0.9:8081") for probe in ("/livez", "/metrics")] == [200, 200]
