"""Environment variables in docker-compose.yml: those that for_each process reads, with the stack's values."""

from __future__ import annotations

import os
import re
from collections import UserDict
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from environs import Env

from alert_api import settings as alert_settings
from rules_registry import settings as registry_settings
from rules_registry.client import guard_cli
from rules_registry.client.guard_settings import read_guard_settings
from tests.containers import compose, dockerfile
from tests.containers.compose import ROOT, Service
from tests.contract.support.compose_services import OURS, SERVERS, SERVICES, for_each, port_of
from tripline_demo import kafka_quotas
from tripline_demo.deployment import secret_files
from tripline_demo.generator import settings as generator_settings
from tripline_demo.stack.plan import QUOTAS
from tripline_demo.stack.program import Program
from tripline_engine.archive import settings as archive_settings
from tripline_engine.prover import settings as prover_settings
from tripline_engine.spark import settings as engine_settings
from tripline_http.bind_address import HOSTS

pytestmark = pytest.mark.contract


READERS: Mapping[str, Callable[[], object]] = {
    "registry": lambda: registry_settings.read_api_settings(Env()),
    "relay": lambda: registry_settings.read_relay_settings(Env()),
    "status": lambda: registry_settings.read_projector_settings(Env()),
    "alert-projector": alert_settings.projector_settings,
    "alert-api": alert_settings.api_settings,
    "retention": alert_settings.retention_settings,
    "redrive": alert_settings.redrive_settings,
    "notifier": alert_settings.notifier_settings,
    "engine": engine_settings.from_environment,
    "archiver": archive_settings.from_environment,
    "prover": prover_settings.from_environment,
    "guard": lambda: read_guard_settings(os.environ, guard_cli.guard.make_context("guard", []).params),
    "generator": lambda: generator_settings.read_settings(Env()),
}


class RecordingEnvironment(UserDict[str, str]):
    """An environment that remembers what was environment of it."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.names: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)


def test_it_is_the_same_system(programs: dict[str, Program]) -> None:
    assert set(SERVICES) == {*programs, "logins"}
    assert set(READERS) == set(SERVERS)


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    secret_files.make(folder, secret_files.Owner(os.geteuid(), os.getegid()))
    return folder


class TestVariables:
    @for_each(SERVERS)
    def test_the_process_takes_them_and_knows_each(
        self, service: Service, programs: dict[str, Program], secrets: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # they look at their secrets at once
        here = {
            name: value.replace("/run/secrets", str(secrets)) for name, value in service.environment.items()
        }
        environment = RecordingEnvironment(here)
        monkeypatch.setattr(os, "environ", environment)
        READERS[service.name]()
        monkeypatch.undo()
        assert set(service.settings) <= environment.names
        # what make up tells it, compose tells it too
        assert set(programs[service.name].environment) & environment.names <= set(service.settings)
        others = set(service.environment) - set(service.settings)
        assert others <= set(programs[service.name].environment)

    def test_the_example_names_them(self) -> None:
        named = set(re.findall(r"^(?:# )?(TRIPLINE_\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
        assert {name for service in SERVICES.values() for name in service.settings} <= named
        assert (
            set(re.findall(r"\$\{(\w+)", compose.FILE.read_text()))
            == {
                secret_files.USER_VARIABLE,
                secret_files.GROUP_VARIABLE,
                HOSTS,
                kafka_quotas.VARIABLE,
                "TRIPLINE_WEBHOOK_HOSTS",
                "TRIPLINE_CONSOLE_URL",
            }
            <= named
        )

    def test_all_are_strings(self) -> None:
        values = [value for service in SERVICES.values() for value in service.environment.values()]
        assert {type(value) for value in values} == {str}

    def test_the_engine_runs_as_in_the_stack_and_keeps_its_state_in_the_volume(
        self, programs: dict[str, Program]
    ) -> None:
        engine = SERVICES["engine"]
        assert engine.dockerfile
        for name in ("TRIPLINE_SHARDS", "TRIPLINE_SPARK_MASTER", "TRIPLINE_CLOCK"):
            assert engine.environment.get(name) == programs["engine"].environment.get(name)
        mount, archive = dockerfile.texts(engine.dockerfile, "VOLUME")[0].split()
        written = {name for name, value in engine.environment.items() if value.startswith(f"{mount}/")}
        assert written == {"TRIPLINE_CHECKPOINT", "TRIPLINE_PROJECTION_DIR", "SPARK_LOCAL_DIRS"}
        assert engine.raw["volumes"] == [f"engine:{mount}", f"archive:{archive}:ro"]
        assert SERVICES["archiver"].raw["volumes"] == [f"archive:{archive}"]
        assert SERVICES["prover"].raw["volumes"] == [f"archive:{archive}:ro"]
        for service in (engine, SERVICES["archiver"], SERVICES["prover"]):
            assert service.environment["TRIPLINE_ARCHIVE"] == archive
        assert f"NUMBA_CACHE_DIR={mount}/kernels" in dockerfile.texts(engine.dockerfile, "ENV")
        steps = " ".join(dockerfile.texts(engine.dockerfile, "RUN"))
        assert f"build/jars/engine {engine.environment['TRIPLINE_JARS']} " in steps

    def test_quotas_are_those_of_the_stack(self) -> None:
        given = SERVICES["registry"].settings
        assert {name: given.get(name) for name in QUOTAS} == QUOTAS
        assert {name for name, _ in registry_settings.QUOTAS.values()} < set(QUOTAS)

    def test_the_addresses_are_those_of_the_services(self) -> None:
        for service in OURS.values():
            for name, value in service.settings.items():
                if name == "TRIPLINE_KAFKA":
                    assert value == "kafka:9092"
                elif name.endswith("_URL") and name != "TRIPLINE_CONSOLE_URL":  # which is for people
                    url = urlsplit(value)
                    assert url.port == port_of(SERVICES[str(url.hostname)])
