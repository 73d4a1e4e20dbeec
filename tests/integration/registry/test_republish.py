"""`rules-registry republish`: the rules topic from the log, on a real Kafka and Postgres."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.registry.support.relay_process import (
    cursor_of,
    drop_rules_topic,
    fresh_rules_topic,
    last_position,
    positions_in_kafka,
    relay_process,
    until,
)
from tests.registry import DEFINITION, RegistryApi, command, running_api
from tests.servers import PostgresServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    with running_api(postgres, migrated_database, tmp_path_factory.mktemp("registry")) as running:
        yield running


def test_a_lost_topic_is_written_anew(
    postgres: PostgresServer, api: RegistryApi, kafka: str, tmp_path: Path
) -> None:
    dsn = postgres.login(api.dsn, "tripline_registry_relay")

    def republish() -> tuple[int, str]:
        environment = {**os.environ, "TRIPLINE_REGISTRY_DSN": dsn, "TRIPLINE_KAFKA": kafka}
        ended = subprocess.run(
            command("republish"), env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return ended.returncode, (ended.stdout + ended.stderr).strip()

    with api.client() as client:
        client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status()
        client.post("/v1/control-commands", json={"command": "CLEAR_STATE_ALL"}).raise_for_status()
        client.put("/v1/lists/watched", json={"values": ["ü😀", 25]}).raise_for_status()
        client.put("/v1/parameters/high", json={"value": "1.50"}).raise_for_status()
        client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status()
    everything = list(range(1, last_position(api.dsn) + 1))
    fresh_rules_topic(kafka)
    with relay_process(dsn, kafka, tmp_path / "relay.log"):
        until(lambda: cursor_of(api.dsn) == everything[-1], "all delivered")
        drop_rules_topic(kafka)
        status, said = republish()
        assert (status, "A relay is active" in said) == (1, True), said
    status, said = republish()
    assert (status, "no topic rules.v1" in said) == (1, True), said
    fresh_rules_topic(kafka)
    assert republish() == (0, f"Republished {everything[-1]} events into rules.v1.")
    assert positions_in_kafka(kafka) == everything
    status, said = republish()
    assert (status, f"not empty ({len(everything)} records)" in said) == (1, True), said
    assert positions_in_kafka(kafka) == everything
    with api.client() as client:
        client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status()
    with relay_process(dsn, kafka, tmp_path / "next.log"):
        until(lambda: cursor_of(api.dsn) == everything[-1] + 1, "the relay goes on behind it")
    assert positions_in_kafka(kafka) == [*everything, everything[-1] + 1]
