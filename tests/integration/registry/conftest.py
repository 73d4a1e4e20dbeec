"""A registry API per test module, and the processes behind it per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.registry.support.list_requests import fresh
from tests.registry import RegistryApi, running_api
from tests.servers import PostgresServer


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with running_api(postgres, migrated_database, folder) as running:
        yield running


@pytest.fixture
def client(api: RegistryApi) -> Iterator[httpx.Client]:
    with api.client() as connected:
        yield connected


@pytest.fixture
def name(client: httpx.Client) -> str:
    """The name of a list of two values."""
    made = fresh()
    client.put(f"/v1/lists/{made}", json={"values": ["a", "b"]}).raise_for_status()
    return made
