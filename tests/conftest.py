"""Real servers for tests: one Kafka and one PostgreSQL per test process, started when the first test asks for them.

Under xdist each worker has its own. They listen on free loopback ports, keep their data in a temporary folder, and are
on a leash: they end with the test process, even when that is killed.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import Phase, settings

from tests import scratch
from tests.servers import PostgresServer
from tests.session_servers import as_server, stop_servers
from tests.stack import RunningStack, running, running_in_background
from tests.workers import ON_SHARED_LINES, ServersApart, is_unit
from tripline_demo import paths
from tripline_demo.embedded import kafka as embedded_kafka
from tripline_demo.embedded import postgres as embedded_postgres
from tripline_demo.embedded.jars import Jars, ensure
from tripline_demo.embedded.java import Java, find_java

scratch.use_memory()
# The JVMs of a test live for a minute: their second compiler, and compiling what runs seldom, would take more processor
# time than it saves. (Images are tested with exactly the variables that compose gives.)
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=3")
# The same examples in every run, however slow the machine, as long as the same modules are loaded (Hypothesis draws
# numbers that they name now and then); HYPOTHESIS_PROFILE=explore draws others, and quick (`make check`) fewer.
# Nothing here has a target of its own; schemathesis has, and would spend a quarter of its time on it.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
settings.register_profile("same", deadline=None, derandomize=True, max_examples=50, phases=PHASES)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of collected tests stay to the end: the garbage collector need not go through them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ServersApart:
    """For `-n 3 --no-loadscope-reorder`: what takes long is not last. (xdist's own groups by mark do nothing since
    pytest 9.2.)"""
    return ServersApart(config, log)


BEHIND = 15
"""How nice a worker without servers is: it takes what the others leave of the cores while they wait."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A worker that has come to tests without servers steps back: no others come to it any more."""
    if "PYTEST_XDIST_WORKER" in os.environ and is_unit(item.nodeid):
        os.setpriority(os.PRIO_PROCESS, 0, max(BEHIND, os.getpriority(os.PRIO_PROCESS, 0)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """A command that a test runs in this process sets up its own logs: what comes after it has those of before."""
    before = structlog.get_config() if structlog.is_configured() else None
    try:
        return (yield)
    finally:
        structlog.reset_defaults()
        if before is not None:
            structlog.configure(**before)


LINES = {"running_stack", "card_line", "activity_line"}
"""Fixtures of running lines that tests share."""


SHARED_LINES: pytest.StashKey[dict[str, ExitStack]] = pytest.StashKey()
"""What stops each of the running lines that tests share, by name."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever shares a running line comes first, one line after the other: of all kinds it takes longest. What needs
    no server comes last, for whoever is done first."""
    for item in items:
        if not _is_in_browser(item) and LINES & {*getattr(item, "fixturenames", ())}:
            # on another worker it would start a line of its own, and end it beneath those that come later
            assert item.path.stem in ON_SHARED_LINES, f"add {item.path.stem} to ON_SHARED_LINES"
    items.sort(key=_how_late)


IN_ORDER = (
    # its life, with what is judged in the middle of it
    ("activities", "integration/stack/test_stack.py"),
    ("activities", "e2e/event_types/test_kinds_of_event.py"),
    ("activities", "browser/event_types/test_kinds_of_event.py"),
    ("activities", "integration/stack/test_stack_ended.py"),
    # first the one that looks at newest alerts, then the one that raises many
    ("cards", "browser/event_types/test_cards.py"),
    ("cards", "e2e/event_types/test_card_authorisations.py"),
    # it needs a line that has seen no rule
    ("line", "e2e/test_line.py"),
)
"""Files whose place on a shared line matters, with the line's name; of the third line others follow."""


def _how_late(item: pytest.Item) -> int:
    last = len(IN_ORDER)
    if is_unit(item.nodeid):
        return last + 4
    for number, (_, file) in enumerate(IN_ORDER):
        if item.path.match(f"tests/{file}"):
            return 1 + number
    if _shared_line(item) is None:
        return last + 3
    # in a browser they ask for the line once they have one
    return last + 2 if _is_in_browser(item) else last + 1


def _is_in_browser(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/browser/")


def _shared_line(item: pytest.Item) -> str | None:
    """The name of the running line that a test may ask for."""
    for line, file in IN_ORDER:
        if item.path.match(f"tests/{file}"):
            return line
    on_it = _is_in_browser(item) or "running_stack" in getattr(item, "fixturenames", ())
    return "line" if on_it else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A running line ends with the last test that may ask for it, and so do all servers: behind tests that need none
    come no others."""
    line = _shared_line(item)
    if line is not None and (nextitem is None or _shared_line(nextitem) != line):
        item.config.stash.get(SHARED_LINES, {}).get(line, ExitStack()).close()
    if not is_unit(item.nodeid) and (nextitem is None or is_unit(nextitem.nodeid)):
        stop_servers(item.config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests have measured (`record_property("told", text)`), from whatever worker it comes."""
    for report in [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]:
        for name, text in getattr(report, "user_properties", []):
            if name == "told":
                terminalreporter.write_line(f"{report.nodeid.rpartition('/')[2]}: {text}")


@pytest.fixture(scope="session")
def java() -> Java:
    """A working Java."""
    return find_java(os.environ, paths.var_folder() / "java")


@pytest.fixture(scope="session")
def jars(java: Java) -> Jars:
    """The checked jars, fetched first if need be."""
    return ensure(paths.project_root(), paths.var_folder(), java)


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """A folder that an unprivileged Postgres can reach; pytest's own temporary folders are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="tripline-test-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def kafka(java: Java, jars: Jars, servers_folder: Path, pytestconfig: pytest.Config) -> Iterator[str]:
    """Bootstrap servers of a real broker without topics (tripline_demo.topics.create makes the contract's)."""
    server = embedded_kafka.running(java, jars.broker, servers_folder / "kafka")
    with as_server(pytestconfig, server) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def postgres(servers_folder: Path, pytestconfig: pytest.Config) -> Iterator[PostgresServer]:
    """A real PostgreSQL that asks for passwords."""
    with as_server(pytestconfig, embedded_postgres.running(servers_folder / "postgres")) as cluster:
        yield PostgresServer(cluster)


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> Iterator[str]:
    """The superuser's DSN of an empty database of this test module."""
    with postgres.database() as dsn:
        yield dsn


@pytest.fixture(scope="module")
def migrated_database(postgres: PostgresServer) -> Iterator[str]:
    """The superuser's DSN of a database of this test module with all migrations applied."""
    with postgres.database(migrated=True) as dsn:
        yield dsn


def _shared(
    config: pytest.Config, name: str, line: AbstractContextManager[RunningStack]
) -> Iterator[RunningStack]:
    with ExitStack() as kept:
        config.stash.setdefault(SHARED_LINES, {})[name] = kept
        yield kept.enter_context(line)


@pytest.fixture(scope="session")
def running_stack(jars: Jars, servers_folder: Path, pytestconfig: pytest.Config) -> Iterator[RunningStack]:
    """The whole line of `make demo TRAFFIC=0`, shared: leave rules deleted, and group fields that only you use."""
    yield from _shared(pytestconfig, "line", running(servers_folder / "stack", jars))


@pytest.fixture(scope="session")
def card_line(jars: Jars, servers_folder: Path, pytestconfig: pytest.Config) -> Iterator[RunningStack]:
    """The same of the other event type that ships, card authorisations."""
    yield from _shared(
        pytestconfig, "cards", running(servers_folder / "cards", jars, "--event-type", "card-authorisation")
    )


@pytest.fixture(scope="session")
def activity_line(jars: Jars, servers_folder: Path, pytestconfig: pytest.Config) -> Iterator[RunningStack]:
    """The same of several kinds of event in one stream, as `make up` starts it; the last of its tests ends it."""
    line = running_in_background(servers_folder / "activities", jars, "--event-type", "activity")
    yield from _shared(pytestconfig, "activities", line)
