"""One Spark session for all tests here that need no whole engine process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support.engine_process import Queries, Workplace, queries
from tests.session_servers import as_server
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java


@pytest.fixture(scope="session")
def spark_queries(
    java: Java,
    jars: Jars,
    kafka: str,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> Iterator[Queries]:
    """A process that runs the engine's query on topics of your own, as often as you like."""
    folder: Path = tmp_path_factory.mktemp("queries")
    with as_server(pytestconfig, queries(Workplace(java, jars, kafka, folder))) as running:
        yield running
