"""Who calls, asked of the running services: bounded by the second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.alert_api.support.api_process import live_api
from tests.registry import running_api
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration

BURST = 4


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that are started now let in four requests at once, and then one a second."""
    monkeypatch.setenv("TRIPLINE_RATE_LIMIT", "1")
    monkeypatch.setenv("TRIPLINE_RATE_BURST", str(BURST))


Client = Callable[[str], httpx.Client]


@pytest.fixture(params=["registry", "alert-api"])
def service(
    limited: None,
    request: pytest.FixtureRequest,
    postgres: PostgresServer,
    migrated_database: str,
    tmp_path: Path,
) -> Iterator[tuple[Client, str]]:
    """A running service: its clients, and an address that needs a key."""
    if request.param == "registry":
        with running_api(postgres, migrated_database, tmp_path) as registry:
            yield registry.client, "/v1/rules"
    else:
        dsn = postgres.login(migrated_database, "tripline_alert_api")
        with live_api(dsn, tmp_path) as alerts:
            yield alerts.client, "/console/session"


def test_a_key_is_held_to_its_rate_and_no_other_is_held_up(service: tuple[Client, str]) -> None:
    client_of, path = service
    with client_of("analyst-key-for-tests") as analyst, client_of("viewer-key-for-tests") as viewer:
        answers = [analyst.get(path) for _ in range(BURST + 20)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:BURST] == [200] * BURST
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert {answer.json()["type"] for answer in refused} == {"urn:tripline:problem:too-many-requests"}
        assert {answer.headers["Retry-After"] for answer in refused} == {"1"}
        assert viewer.get(path).status_code == 200
        assert {analyst.get(probe).status_code for probe in ("/livez", "/readyz") for _ in range(10)} == {200}
