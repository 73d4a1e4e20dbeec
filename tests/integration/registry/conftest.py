"""A registry API per test module, and the processes behind it per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

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
