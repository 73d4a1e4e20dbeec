"""Each image of docker-compose.yml: its Dockerfile's steps and its services' commands, without a container engine.

All is done as users without rights, in an empty environment that has what Dockerfile and compose set and nothing else,
until compose's own health check passes. Postgres and Kafka are real ones on loopback.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests import scratch
from tests.containers import compose
from tests.containers.building import Builder, Image, lend_kernels, lend_uv_cache, usable_path
from tests.containers.line import Line
from tests.containers.person import nameless
from tests.servers import PostgresServer
from tripline_demo.deployment import passfiles, secret_files
from tripline_demo.embedded import kafka as embedded_kafka
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.processes import ports

pytestmark = [pytest.mark.contract, pytest.mark.slow, pytest.mark.timeout(900)]

SERVICES = compose.services()
OURS = {name: service for name, service in SERVICES.items() if service.dockerfile}
JOBS = ["topics", "migrations", "logins"]
STAYING = sorted(set(OURS) - set(JOBS))
PORTS = {"registry": 8081, "alert-api": 8082, "generator": 8083, "relay": 9101, "status": 9102, "engine": 9103,
         "alert-projector": 9104, "archiver": 9105, "retention": 9106, "prover": 9107,
         "redrive": 9108, "guard": 9109, "notifier": 9110}  # fmt: skip
METRICS_OF_APIS = (9111, 9112, 9113)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Reachable by everybody; pytest's own temporary folders are not."""
    folder = Path(tempfile.mkdtemp(prefix="tripline-images-", dir=scratch.DISK))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def images(home: Path, jars: Jars) -> dict[str, Image]:
    """All images by name, built by one user and run by others, who cannot change them."""
    builder = nameless(30001)
    path = usable_path(builder)
    if path is None:
        pytest.skip(
            "no Python here that a user without rights may run: run the tests as another user than root"
        )
    lend_uv_cache(home, builder)
    builds = {
        str(service.raw["image"]): service.dockerfile for service in OURS.values() if service.dockerfile
    }
    work = Builder(home, builder, path, jars.folder)

    def build(names: list[str]) -> dict[str, Image]:
        return {name: work.build(builds[name].parent.name, builds[name]) for name in names}

    engine = next(name for name in builds if "engine" in name)
    with ThreadPoolExecutor(2) as pool:  # two: the engine's packages are as much as all others
        parts = [
            pool.submit(build, [engine]),
            pool.submit(build, [name for name in builds if name != engine]),
        ]
        made = {name: image for part in parts for name, image in part.result().items()}
    lend_kernels(made[engine])
    return made


@pytest.fixture(scope="module")
def line(
    home: Path,
    images: dict[str, Image],
    java: Java,
    jars: Jars,
    postgres: PostgresServer,
    servers_folder: Path,
) -> Iterator[Line]:
    """Secrets as `make secrets` makes them, a broker, a database, and nothing of ours running yet."""
    reader = nameless(20001)
    secrets = home / "secrets"
    secrets.mkdir()
    with ExitStack() as stack:
        dsn = stack.enter_context(postgres.database())
        known = passfiles.line_of(secret_files.ADMIN, postgres.cluster.password)
        (secrets / passfiles.name_of(secret_files.ADMIN)).write_text(known)
        secret_files.make(secrets, secret_files.Owner(reader.uid, reader.gid))
        shutil.chown(secrets / passfiles.name_of(secret_files.ADMIN), reader.uid, reader.gid)
        (secrets / passfiles.name_of(secret_files.ADMIN)).chmod(0o600)
        broker = stack.enter_context(
            embedded_kafka.running(
                java,
                jars.broker,
                servers_folder / "kafka-of-images",
                security=secret_files.broker_security(secrets),
            )
        )
        inside = (*PORTS.values(), *METRICS_OF_APIS)
        here = dict(zip(inside, ports.free_ports(len(inside)), strict=True))
        here |= {5432: urlsplit(dsn).port or 0, 9092: broker.port}
        line = Line(images, here, urlsplit(dsn).path.removeprefix("/"), secrets, reader, home)
        yield line
        line.stop()


@pytest.fixture(scope="module")
def started(line: Line) -> Line:
    """After the jobs, which are tried twice: compose runs them at every start."""
    for _ in range(2):
        for name in JOBS:
            code, said = line.run_job(SERVICES[name])
            assert code == 0, f"{name}: {said[-3000:]}"
    for name in ["engine", *STAYING]:
        if name not in line.running:
            assert not line.is_healthy(SERVICES[name])
            line.start(SERVICES[name])
    return line


@pytest.mark.parametrize("name", [*(name for name in STAYING if name != "engine"), "engine"])
def test_it_runs_until_compose_calls_it_healthy(started: Line, name: str) -> None:
    started.wait(SERVICES[name], PORTS[name], 240 if name == "engine" else 60)
    assert started.is_healthy(SERVICES[name])
