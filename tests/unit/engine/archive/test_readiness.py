"""The archiver's readiness, with a Kafka that answers or does not, as told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive import archiver as module
from tripline_engine.archive.archiver import Archiver
from tripline_engine.archive.metrics import Metrics
from tripline_engine.archive.process import Probes
from tripline_engine.archive.settings import ArchiverSettings
from tripline_engine.errors import KafkaSilent

TYPE = installed("transaction")


class FakeConsumer:
    """Says that Kafka is silent where `answers` has False next; a reading takes ten seconds."""

    def __init__(self, answers: list[bool], now: list[float], read: Callable[[], None]) -> None:
        self._answers, self._now, self._read = answers, now, read

    def assign_new_partitions(self) -> None:
        if not self._answers.pop(0):
            raise KafkaSilent("transactions.v1: Kafka doesn't say its partitions")

    def read(self, _seconds: float) -> list[object]:
        self._now[0] += 10
        self._read()
        return []

    def ends(self) -> dict[object, int]:
        return {}

    def close(self) -> None:
        """Nothing is open."""


def test_it_is_ready_while_kafka_answers_and_again_once_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ArchiverSettings(
        KafkaCluster("nowhere:1"), tmp_path, TYPE, "", 5, 1 << 20, "127.0.0.1", 0, "info"
    )
    answers, now, stop = [False, True, True, False, False, True], [0.0], threading.Event()
    expected, said = [not answer for answer in answers], list[bool]()
    archiver = Archiver(settings, TYPE, Metrics(), lambda: now[0])
    probes = Probes(archiver)
    monkeypatch.setattr(Probes, "dead", lambda _probes: None)

    def read() -> None:
        said.append(probes.not_ready() is not None)
        if not answers:
            stop.set()

    monkeypatch.setattr(module, "TopicConsumer", lambda *_: FakeConsumer(answers, now, read))
    archiver.run(stop)
    assert said == expected
