"""docker-compose.yml against the code: images, commands, health checks, order. (test_images.py runs them.)"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click
import pytest

from tests.containers import compose, dockerfile
from tests.containers.compose import ROOT, Service
from tests.contract.support.compose_services import JOBS, OURS, SERVERS, SERVICES, for_each, port_of
from tripline_demo.deployment import image_digests, passfiles, secret_files
from tripline_demo.embedded import kafka, postgres
from tripline_demo.embedded.broker_security import BrokerSecurity, Tls
from tripline_demo.embedded.java import Java
from tripline_demo.groups import GROUPS, login_of
from tripline_demo.stack.plan import PORTS
from tripline_demo.stack.program import Program

pytestmark = pytest.mark.contract


OURS_BY_NAME = image_digests.OURS
EXACT = re.compile(
    r"(python:3\.\d+\.\d+-slim-[a-z]+|postgres:\d+\.\d+-[a-z]+|apache/kafka:\d+\.\d+\.\d+)@sha256:[0-9a-f]{64}"
)
"""The whole version, the Debian beneath, and the digest: what is shorter names something else some day."""
DOCKERFILES = sorted({service.dockerfile for service in OURS.values() if service.dockerfile})


class TestImages:
    def test_postgres_is_the_version_that_the_tests_run_against(self) -> None:
        said = subprocess.check_output([postgres.binaries() / "postgres", "--version"], text=True)
        # With Debian's name: without it the tag moves on to the next Debian.
        assert SERVICES["postgres"].raw["image"].partition("@")[0] == f"postgres:{said.split()[-1]}-trixie"

    def test_kafka_is_the_version_that_the_tests_run_against(self) -> None:
        broker = ET.parse(ROOT / "ivy.xml").find(".//dependency[@name='kafka_2.13']")
        assert broker is not None
        assert SERVICES["kafka"].raw["image"].partition("@")[0] == f"apache/kafka:{broker.get('rev')}"

    @for_each(OURS)
    def test_ours_are_built_from_the_checkout(self, service: Service) -> None:
        assert service.dockerfile is not None
        assert service.dockerfile.is_file()
        assert service.raw["build"]["context"] == "."
        version = re.search(
            r'^version = "(.+)"$', (ROOT / "engine" / "pyproject.toml").read_text(), re.MULTILINE
        )
        assert version
        assert re.fullmatch(rf"{OURS_BY_NAME}[a-z-]+:{re.escape(version[1])}", service.raw["image"])
        # else compose asks a registry for the name first, and runs what somebody has put there
        assert service.raw["pull_policy"] == "build"

    def test_what_a_tag_names_does_not_move(self) -> None:
        named = [
            (path.name, reference)
            for form in image_digests.FILES
            for path in ROOT.glob(form)
            for reference in image_digests.references(path.read_text(encoding="utf-8"))
        ]
        assert {name for name, _ in named} == {"docker-compose.yml", "Dockerfile"}
        assert [(name, reference) for name, reference in named if not EXACT.fullmatch(reference)] == []

    def test_no_image_is_named_elsewhere(self) -> None:
        """A stage, a frontend or a file that comes from an image would be one that the tests above do not see."""
        whole = [one.raw["image"] for one in SERVICES.values() if one.name not in OURS]
        assert image_digests.references(compose.FILE.read_text(encoding="utf-8")) == whole
        files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
        others = [name for name in files if re.search(r"(?i)(docker|container)file", Path(name).name)]
        assert {ROOT / name for name in others} - set(DOCKERFILES) <= {
            ROOT / "tests" / "containers" / "dockerfile.py",
            ROOT / "tests" / "contract" / "test_dockerfiles.py",
        }
        for file in DOCKERFILES:
            assert not re.search(r"(?im)^#\s*syntax\s*=|--from=|from=", file.read_text(encoding="utf-8"))
            assert image_digests.references(file.read_text(encoding="utf-8")) == [dockerfile.base(file)]

    def test_an_image_has_one_dockerfile(self) -> None:
        pairs = {(service.raw["image"], service.dockerfile) for service in OURS.values()}
        assert len(pairs) == len({image for image, _ in pairs}) == len(DOCKERFILES) == 4


class TestCommands:
    @for_each(SERVERS)
    def test_it_is_the_one_that_make_up_runs(self, service: Service, programs: dict[str, Program]) -> None:
        script, *rest = programs[service.name].command
        assert service.command == (Path(script).name, *rest)

    @for_each(SERVERS)
    def test_it_is_a_console_script_with_that_subcommand(self, service: Service) -> None:
        script, *rest = service.command
        (point,) = entry_points(group="console_scripts", name=script)
        group = point.load()
        assert isinstance(group, click.Group)
        assert rest[0] in group.commands if rest else group.invoke_without_command

    @for_each(JOBS)
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
        given, here = set(SERVICES["topics"].environment), set(programs["topics"].environment)
        assert given - here == {"TRIPLINE_KAFKA_SECURITY_CA_FILE"}, "no TLS on loopback"
        assert here < given

    def test_logins_are_made_from_the_mounted_secrets(self) -> None:
        assert SERVICES["logins"].command[2:] == ("tripline_demo.deployment.login_users", "/run/secrets")
        files = {passfiles.name_of(user) for user in (secret_files.ADMIN, *map(login_of, GROUPS))}
        assert set(SERVICES["logins"].secrets) == files


class TestHealth:
    @for_each(SERVERS)
    def test_it_asks_the_address_that_the_process_serves(self, service: Service) -> None:
        assert service.health[:2] == ("python", "-c")
        (address,) = re.findall(r"urlopen\('(.+?)'", service.health[2])
        assert address == f"http://127.0.0.1:{port_of(service)}/readyz"
        compile(service.health[2], "health check", "exec")

    @for_each(SERVERS)
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
        assert SERVICES["kafka"].health == ("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9092")
        assert SERVICES["kafka"].environment["KAFKA_LISTENERS"].startswith("CLIENTS://:9092,")
        assert SERVICES["kafka"].environment["KAFKA_ADVERTISED_LISTENERS"] == "CLIENTS://kafka:9092"

    @for_each({**SERVICES})
    def test_all_have_one_but_jobs(self, service: Service) -> None:
        assert bool(service.health) != service.is_job


class TestOrder:
    @for_each({**SERVICES})
    def test_it_waits_for_what_can_come_true(self, service: Service) -> None:
        for name, condition in service.waits_for.items():
            job = SERVICES[name].is_job
            assert condition == ("service_completed_successfully" if job else "service_healthy")

    @for_each(OURS)
    def test_it_waits_for_what_it_needs(self, service: Service) -> None:
        before = waited_for(service.name)
        if "TRIPLINE_KAFKA" in service.settings:
            assert {"kafka", *({"topics"} - {service.name})} <= before
        if any(name.endswith("_DSN") for name in service.settings):
            assert "postgres" in before
            assert service.is_job or {"migrations", "logins"} <= before


def waited_for(name: str) -> set[str]:
    """Directly or not. Fails on a circle."""
    reached: set[str] = set()
    ahead = set(SERVICES[name].waits_for)
    while ahead:
        reached |= ahead
        ahead = {after for one in ahead for after in SERVICES[one].waits_for} - reached
    assert name not in reached
    return reached


def test_kafka_has_the_settings_of_the_embedded_broker() -> None:
    secrets = Path("/run/secrets")
    tls = Tls(secrets / secret_files.KAFKA_BROKER, secrets / secret_files.KAFKA_AUTHORITY)
    security = BrokerSecurity(secrets / secret_files.KAFKA_JAAS, Path("/not-read"), tls)
    java = Java(Path("/java"), 17, "test")
    broker = kafka.Broker(java, Path("/jars"), Path("/home"), 9092, 9093, security=security)
    assert SERVICES["kafka"].environment["KAFKA_OPTS"].split() == security.java_options()
    lines = [line for line in broker.properties().splitlines() if not line.startswith("#")]
    wanted = {key: value for key, _, value in (line.partition("=") for line in lines)}
    given: dict[str, Any] = {
        name.removeprefix("KAFKA_").replace("_", ".").lower(): value
        for name, value in SERVICES["kafka"].environment.items()
        if name not in {"CLUSTER_ID", "KAFKA_HEAP_OPTS", "KAFKA_OPTS"}
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
