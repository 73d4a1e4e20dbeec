"""schemathesis against the running registry on a real Postgres: every check, every phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.support.in_memory_prover import made_up_backtests
from tests.contract.support.narrow_bodies import without_repetitions
from tests.contract.support.registry_cases import Supply
from tests.contract.support.schemathesis_campaign import EXAMPLES, run
from tests.contract.test_registry_openapi import operations
from tests.registry import RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(1500)]


EVERYTHING = "everything-key-for-tests"


@pytest.fixture(scope="module")
def four_eyes(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    """A second one on the same database, which makes changes of what it is asked for."""
    folder: Path = tmp_path_factory.mktemp("four-eyes")
    with running_api(postgres, migrated_database, folder, {"TRIPLINE_FOUR_EYES": "true"}) as running:
        yield running


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with (
        made_up_backtests(folder) as prover,
        running_api(postgres, migrated_database, folder, prover) as running,
    ):
        yield running


def test_every_operation_keeps_its_contract(
    api: RegistryApi, four_eyes: RegistryApi, record_property: Callable[[str, object], None]
) -> None:
    with api.client(EVERYTHING) as client, four_eyes.client("second-key-for-tests") as author:
        supply = Supply(client, author, api.dsn)
        outcome = run(api.url, EVERYTHING, supply.fill, narrow=without_repetitions)
    record_property("told", "\n" + outcome.table())
    assert not outcome.failures, "\n\n".join(outcome.failures[:5])
    assert {"coverage", "fuzzing"} <= outcome.phases, outcome.phases
    assert any(phase.startswith("stateful") for phase in outcome.phases), outcome.phases
    assert set(outcome.statuses) == {name for name, _ in operations()}
    for operation, counted in outcome.statuses.items():
        assert counted.total() >= EXAMPLES, f"{operation} was asked {counted.total()} times"
        assert outcome.share(operation) > 0, f"{operation} was never answered with 2xx: {dict(counted)}"
