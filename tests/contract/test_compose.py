"""docker-compose.yml and the Dockerfiles say what the code says. (tests/contract/test_images.py runs them.)"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections import UserDict
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import click
import pytest
from environs import Env

from alert_api import settings as alert_settings
from rules_registry import settings as registry_settings
from tests.containers import compose, dockerfile
from tests.containers.compose import ROOT, Service
from tripline_demo import kafka, postgres
from tripline_demo.deployment import passfiles, secret_files
from tripline_demo.generator import settings as generator_settings
from tripline_demo.groups import GROUPS, login_of
from tripline_demo.jars import Jars
from tripline_demo.java import Java
from tripline_demo.stack.credentials import Credentials
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import DATABASE, PORTS, Plan
from tripline_demo.stack.program import Program
from tripline_engine.archive import settings as archive_settings
from tripline_engine.spark import settings as engine_settings

pytestmark = pytest.mark.contract

FILE = compose.load()
SERVICES = compose.services()
OURS = {name: service for name, service in SERVICES.items() if service.dockerfile}
SERVERS = {name: service for name, service in OURS.items() if not service.is_job}
JOBS = {name: service for name, service in OURS.items() if service.is_job}
DOCKERFILES = sorted({service.dockerfile for service in OURS.values() if service.dockerfile})

READERS: Mapping[str, Callable[[], object]] = {
    "registry": lambda: registry_settings.read_api_settings(Env()),
    "relay": lambda: registry_settings.read_relay_settings(Env()),
    "status": lambda: registry_settings.read_projector_settings(Env()),
    "alert-projector": alert_settings.projector_settings,
    "alert-api": alert_settings.api_settings,
    "engine": engine_settings.from_environment,
    "archiver": archive_settings.from_environment,
    "generator": lambda: generator_settings.read_settings(Env()),
}


class Asked(UserDict[str, str]):
    """An environment that remembers what was asked of it."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.names: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    """What `make up` would start."""
    places = Places(tmp_path_factory.mktemp("stack"))
    secrets = Credentials("x", dict.fromkeys(GROUPS, "x"), {})
    plan = Plan(
        places, dict(PORTS), secrets, Java(Path("/java"), 17, "test"), Jars(places.var / "jars"), "wall"
    )
    return {program.name: program for program in plan.programs()}


def bind_of(service: Service) -> str:
    """Where it listens."""
    (bind,) = (service.settings[name] for name in service.settings if name.endswith("_BIND"))
    return bind


def port_of(service: Service) -> int:
    """The port of its API, or of its metrics."""
    return int(bind_of(service).rpartition(":")[2])


def each(services: Mapping[str, Service]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("service", services.values(), ids=services)


def test_it_is_the_same_system(programs: dict[str, Program]) -> None:
    assert set(SERVICES) == {*programs, "logins"}
    assert set(READERS) == set(SERVERS)


class TestImages:
    def test_postgres_is_the_version_that_the_tests_run_against(self) -> None:
        said = subprocess.check_output([postgres.binaries() / "postgres", "--version"], text=True)
        assert SERVICES["postgres"].raw["image"] == f"postgres:{said.split()[-1]}"

    def test_kafka_is_the_version_that_the_tests_run_against(self) -> None:
        broker = ET.parse(ROOT / "ivy.xml").find(".//dependency[@name='kafka_2.13']")
        assert broker is not None
        assert SERVICES["kafka"].raw["image"] == f"apache/kafka:{broker.get('rev')}"

    @each(OURS)
    def test_ours_are_built_from_the_checkout(self, service: Service) -> None:
        assert service.dockerfile is not None
        assert service.dockerfile.is_file()
        assert service.raw["build"]["context"] == "."
        version = re.search(
            r'^version = "(.+)"$', (ROOT / "engine" / "pyproject.toml").read_text(), re.MULTILINE
        )
        assert version
        assert re.fullmatch(rf"tripline/[a-z-]+:{re.escape(version[1])}", service.raw["image"])

    def test_an_image_has_one_dockerfile(self) -> None:
        pairs = {(service.raw["image"], service.dockerfile) for service in OURS.values()}
        assert len(pairs) == len({image for image, _ in pairs}) == len(DOCKERFILES) == 4


class TestCommands:
    @each(SERVERS)
    def test_it_is_the_one_that_make_up_runs(self, service: Service, programs: dict[str, Program]) -> None:
        script, *rest = programs[service.name].command
        assert service.command == (Path(script).name, *rest)

    @each(SERVERS)
    def test_it_is_a_console_script_with_that_subcommand(self, service: Service) -> None:
        script, *rest = service.command
        (point,) = entry_points(group="console_scripts", name=script)
        group = point.load()
        assert isinstance(group, click.Group)
        assert rest[0] in group.commands if rest else group.invoke_without_command

    @each(JOBS)
    def test_a_job_runs_a_module_or_alembic_with_files_of_its_image(self, service: Service) -> None:
        assert service.dockerfile
        if service.command[:2] == ("python", "-m"):
            assert importlib.util.find_spec(service.command[2])
            return
        (folder,) = dockerfile.texts(service.dockerfile, "WORKDIR")
        assert service.command[:2] == ("alembic", "--config")
        config = Path(service.command[2]).relative_to(folder)
        assert (ROOT / config).is_file()
        assert config.parts[0] in {
            source for sources, _ in dockerfile.copies(service.dockerfile) for source in sources
        }
        assert service.command[3:] == ("upgrade", "head")

    def test_topics_are_made_as_make_up_makes_them(self, programs: dict[str, Program]) -> None:
        assert SERVICES["topics"].command[1:] == programs["topics"].command[1:]
        assert set(SERVICES["topics"].environment) == set(programs["topics"].environment)

    def test_logins_are_made_from_the_mounted_secrets(self) -> None:
        assert SERVICES["logins"].command[2:] == ("tripline_demo.deployment.login_users", "/run/secrets")
        files = {passfiles.name_of(user) for user in (secret_files.ADMIN, *map(login_of, GROUPS))}
        assert set(SERVICES["logins"].secrets) == files


class TestVariables:
    @each(SERVERS)
    def test_the_process_takes_them_and_knows_each(
        self, service: Service, programs: dict[str, Program], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = Asked(service.environment)
        monkeypatch.setattr(os, "environ", asked)
        READERS[service.name]()
        monkeypatch.undo()
        assert set(service.settings) <= asked.names
        # what make up tells it, compose tells it too
        assert set(programs[service.name].environment) & asked.names <= set(service.settings)
        others = set(service.environment) - set(service.settings)
        assert others <= set(programs[service.name].environment)

    def test_the_example_names_them(self) -> None:
        named = set(re.findall(r"^(?:# )?(TRIPLINE_\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
        assert {name for service in SERVICES.values() for name in service.settings} <= named
        assert (
            set(re.findall(r"\$\{(\w+)", compose.FILE.read_text())) == {secret_files.USER_VARIABLE} <= named
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
        for service in (engine, SERVICES["archiver"]):
            assert service.environment["TRIPLINE_ARCHIVE"] == archive
        assert f"NUMBA_CACHE_DIR={mount}/kernels" in dockerfile.texts(engine.dockerfile, "ENV")
        steps = " ".join(dockerfile.texts(engine.dockerfile, "RUN"))
        assert f"build/jars/engine {engine.environment['TRIPLINE_JARS']} " in steps

    def test_the_addresses_are_those_of_the_services(self) -> None:
        for service in OURS.values():
            for name, value in service.settings.items():
                if name == "TRIPLINE_KAFKA":
                    assert value == "kafka:9092"
                elif name.endswith("_URL"):
                    at = urlsplit(value)
                    assert at.port == port_of(SERVICES[str(at.hostname)])


class TestHealth:
    @each(SERVERS)
    def test_it_asks_the_address_that_the_process_serves(self, service: Service) -> None:
        assert service.health[:2] == ("python", "-c")
        (address,) = re.findall(r"urlopen\('(.+?)'", service.health[2])
        assert address == f"http://127.0.0.1:{port_of(service)}/readyz"
        compile(service.health[2], "health check", "exec")

    @each(SERVERS)
    def test_the_port_is_the_stacks_and_the_image_says_it(self, service: Service) -> None:
        assert service.dockerfile
        assert port_of(service) == PORTS[service.name]
        of_image = {port_of(other) for other in SERVERS.values() if other.dockerfile == service.dockerfile}
        assert dockerfile.ports(service.dockerfile) == of_image

    def test_postgres_is_asked_over_tcp_for_its_database(self) -> None:
        given, words = SERVICES["postgres"].environment, set(SERVICES["postgres"].health)
        assert {f"--username={given['POSTGRES_USER']}", f"--dbname={given['POSTGRES_DB']}"} <= words
        assert {"pg_isready", "--host=127.0.0.1", "--port=5432"} <= words

    def test_kafka_is_asked_at_its_listener(self) -> None:
        assert SERVICES["kafka"].health[-2:] == ("--bootstrap-server", "127.0.0.1:9092")
        assert SERVICES["kafka"].environment["KAFKA_LISTENERS"].startswith("PLAINTEXT://:9092,")
        assert SERVICES["kafka"].environment["KAFKA_ADVERTISED_LISTENERS"] == "PLAINTEXT://kafka:9092"

    @each({**SERVICES})
    def test_all_have_one_but_jobs(self, service: Service) -> None:
        assert bool(service.health) != service.is_job


class TestOrder:
    @each({**SERVICES})
    def test_it_waits_for_what_can_come_true(self, service: Service) -> None:
        for name, condition in service.waits_for.items():
            job = SERVICES[name].is_job
            assert condition == ("service_completed_successfully" if job else "service_healthy")

    @each(OURS)
    def test_it_waits_for_what_it_needs(self, service: Service) -> None:
        before = waited_for(service.name)
        if "TRIPLINE_KAFKA" in service.settings:
            assert {"kafka", *({"topics"} - {service.name})} <= before
        if any(name.endswith("_DSN") for name in service.settings):
            assert "postgres" in before
            assert service.is_job or {"migrations", "logins"} <= before


def waited_for(name: str) -> set[str]:
    """Directly or not. Fails on a circle."""
    found: set[str] = set()
    ahead = set(SERVICES[name].waits_for)
    while ahead:
        found |= ahead
        ahead = {after for one in ahead for after in SERVICES[one].waits_for} - found
    assert name not in found
    return found


class TestSecrets:
    def test_they_are_the_files_that_make_secrets_makes(self, tmp_path: Path) -> None:
        made = secret_files.make(tmp_path, secret_files.Owner(os.geteuid(), os.getegid()))
        assert set(FILE["secrets"]) == set(made) - {secret_files.CLEAR_KEYS}
        assert all(secret == {"file": f"secrets/{name}"} for name, secret in FILE["secrets"].items())
        assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()
        assert re.search(r"secret_files secrets \.env$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    @each({**SERVICES})
    def test_a_service_has_those_that_it_names_and_no_others(self, service: Service) -> None:
        said = set(re.findall(r"/run/secrets/([\w.-]+)", " ".join(service.environment.values())))
        assert set(service.secrets) <= set(FILE["secrets"])
        if service.name != "logins":
            assert said == set(service.secrets)

    @each(OURS)
    def test_who_reads_one_owns_it(self, service: Service) -> None:
        wanted = f"${{{secret_files.USER_VARIABLE}:?Run make secrets first}}"
        assert service.raw.get("user") == (wanted if service.secrets else None)

    @each({**SERVICES})
    def test_no_password_stands_in_the_environment(self, service: Service) -> None:
        for name, value in service.environment.items():
            assert urlsplit(value).password is None
            assert "PASSWORD" not in name or name.endswith("_FILE")

    @each({name: service for name, service in OURS.items() if "DSN" in "".join(service.settings)})
    def test_a_database_user_has_the_passfile_of_its_name(
        self, service: Service, programs: dict[str, Program]
    ) -> None:
        (variable,) = (name for name in service.settings if name.endswith("_DSN"))
        dsn = urlsplit(service.settings[variable])
        own = secret_files.ADMIN
        if service.name in programs and not service.is_job:
            own = str(urlsplit(programs[service.name].environment[variable]).username)
        assert (dsn.username, dsn.hostname, dsn.port, dsn.path) == (own, "postgres", 5432, f"/{DATABASE}")
        assert parse_qs(dsn.query) == {"passfile": [f"/run/secrets/{passfiles.name_of(own)}"]}

    def test_the_superuser_is_the_one_whose_password_is_given(self) -> None:
        given = SERVICES["postgres"].environment
        assert (given["POSTGRES_USER"], given["POSTGRES_DB"]) == (secret_files.ADMIN, DATABASE)
        assert given["POSTGRES_PASSWORD_FILE"] == f"/run/secrets/{secret_files.ADMIN_PASSWORD}"
        holders = {name for name, one in SERVICES.items() if f"{secret_files.ADMIN}.pgpass" in one.secrets}
        assert holders == {"migrations", "logins"}


class TestReach:
    @each({**SERVICES})
    def test_a_published_port_is_on_loopback(self, service: Service) -> None:
        published = service.raw.get("ports", [])
        serves_people = "TRIPLINE_HTTP_BIND" in service.settings
        assert published == ([f"127.0.0.1:{port_of(service)}:{port_of(service)}"] if serves_people else [])
        assert not {"network_mode", "privileged", "pid", "ipc", "devices", "cap_add"} & set(service.raw)

    @each(OURS)
    def test_ours_can_write_nothing_but_tmp_and_volumes(self, service: Service) -> None:
        assert service.raw["read_only"] is True
        assert service.raw["cap_drop"] == ["ALL"]
        assert service.raw["security_opt"] == ["no-new-privileges:true"]
        assert [mount.partition(":")[0] for mount in service.raw["tmpfs"]] == ["/tmp"]

    def test_a_process_is_on_the_networks_that_it_needs(self) -> None:
        for service in OURS.values():
            needs = {"database"} if any(name.endswith("_DSN") for name in service.settings) else set[str]()
            if not service.is_job or "TRIPLINE_KAFKA" in service.settings:
                needs |= {"line"}
            assert set(service.raw["networks"]) == needs
        assert SERVICES["postgres"].raw["networks"] == ["database"]
        assert FILE["networks"] == {"database": {"internal": True}, "line": {}}

    def test_what_is_kept_is_in_named_volumes(self) -> None:
        mounts = [mount for service in SERVICES.values() for mount in service.raw.get("volumes", [])]
        assert {mount.partition(":")[0] for mount in mounts} == set(FILE["volumes"])
        assert (
            mounts[0] == "postgres:/var/lib/postgresql"
        )  # since version 18; before, it was the folder data in it
        assert f"kafka:{SERVICES['kafka'].environment['KAFKA_LOG_DIRS']}" in mounts


def test_kafka_has_the_settings_of_the_embedded_broker() -> None:
    broker = kafka.Broker(Java(Path("/java"), 17, "test"), Path("/jars"), Path("/home"), 9092, 9093)
    lines = [line for line in broker.properties().splitlines() if not line.startswith("#")]
    wanted = {key: value for key, _, value in (line.partition("=") for line in lines)}
    given: dict[str, Any] = {
        name.removeprefix("KAFKA_").replace("_", ".").lower(): value
        for name, value in SERVICES["kafka"].environment.items()
        if name not in {"CLUSTER_ID", "KAFKA_HEAP_OPTS"}
    }
    # where it listens and keeps its data; and what sizes it for a small machine
    other = {"listeners", "advertised.listeners", "log.dirs", "num.network.threads", "num.io.threads",
             "log.cleaner.dedupe.buffer.size"}  # fmt: skip
    assert {key: value for key, value in wanted.items() if key not in other} == {
        key: value for key, value in given.items() if key not in other
    }


def test_postgres_is_made_with_the_embedded_ones_locale() -> None:
    source = Path(postgres.__file__).read_text()
    for option in SERVICES["postgres"].environment["POSTGRES_INITDB_ARGS"].split():
        assert f'"{option}"' in source
