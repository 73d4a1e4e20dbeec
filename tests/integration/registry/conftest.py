"""A registry API per test module, one for several where they do not mind, and the processes behind it per test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.integration.registry.support.list_requests import fresh
from tests.registry import RegistryApi, running_api
from tests.servers import PostgresServer
from tests.session_servers import as_server

TOGETHER = {
    "test_api",
    "test_audit",
    "test_concurrent_writers",
    "test_idempotency",
    "test_import",
    "test_invalid_requests",
    "test_keys",
    "test_list_entries",
    "test_list_imports",
    "test_million",
    "test_named_values",
    "test_old_names",
    "test_operators",
    "test_rule_checks",
    "test_rule_options",
    "test_rule_purpose",
    "test_status",
    "test_widest_windows",
}
"""Modules whose tests look at rules of their own alone: they share an API and its database."""
WITH_FOUR_EYES = {"test_four_eyes", "test_hundred_editors"}
"""The same, of a registry whose changes are approved by somebody else."""


@contextmanager
def _over_its_own(
    postgres: PostgresServer, folder: Path, settings: Mapping[str, str]
) -> Iterator[RegistryApi]:
    with postgres.database(migrated=True) as dsn, running_api(postgres, dsn, folder, settings) as running:
        yield running


@pytest.fixture(scope="session")
def shared_api(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with as_server(pytestconfig, _over_its_own(postgres, folder, {})) as running:
        yield running


@pytest.fixture(scope="session")
def four_eyes_api(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[RegistryApi]:
    folder, setting = tmp_path_factory.mktemp("four-eyes"), {"TRIPLINE_FOUR_EYES": "true"}
    with as_server(pytestconfig, _over_its_own(postgres, folder, setting)) as running:
        yield running


@pytest.fixture(scope="module")
def api(
    request: pytest.FixtureRequest, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    for modules, shared in ((TOGETHER, "shared_api"), (WITH_FOUR_EYES, "four_eyes_api")):
        if request.path.stem in modules:
            yield request.getfixturevalue(shared)
            return
    database: str = request.getfixturevalue("migrated_database")
    folder: Path = tmp_path_factory.mktemp("registry")
    with running_api(postgres, database, folder) as running:
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
