"""A broker that asks who its clients are, with the contract's topics."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import secured_kafka
from tests.secured_kafka import SecuredKafka
from tripline_demo import topics as topics_job
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java


@pytest.fixture(scope="module")
def secured(java: Java, jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with secured_kafka.running(java, jars.broker, tmp_path_factory.mktemp("secured-kafka")) as running:
        topics_job.create(running.administrator)
        yield running
