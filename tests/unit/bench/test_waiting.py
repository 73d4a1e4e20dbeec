"""What has been said is counted when its micro-batch is committed, not when its first shard is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from bench.harness import waiting
from bench.harness.engine import Workplace
from bench.harness.output_reader import ORDER
from bench.harness.waiting import Silence, until_quiet
from tripline_contracts.kafka.cluster import KafkaCluster


class Topics:
    """What a reader has counted so far."""

    def __init__(self) -> None:
        self.records = 3

    def count(self, topic: str) -> int:
        return self.records if topic == ORDER else 0


class Engine:
    """Looked at while it is waited for: it commits one micro-batch more each time."""

    def __init__(self, spark: Path) -> None:
        self.spark, self.looks = spark, 0

    def check(self) -> None:
        self.looks += 1
        self.touch("commits", self.looks)

    def touch(self, folder: str, number: int) -> None:
        (self.spark / folder).mkdir(parents=True, exist_ok=True)
        (self.spark / folder / str(number)).touch()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment of silence is long enough."""
    monkeypatch.setattr(waiting, "_QUIET_SECONDS", 0.001)


def test_until_what_is_planned_is_committed(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "checkpoint" / "spark")
    engine.touch("offsets", 40)
    workplace = Workplace(cast("Any", None), cast("Any", None), KafkaCluster(""), tmp_path)
    until_quiet(cast("Any", engine), workplace, cast("Any", Topics()))
    assert engine.looks == 40


def test_a_record_breaks_the_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    topics = Topics()
    silent, calls = Silence(cast("Any", topics)), []
    for records in (3, 3, 4, 4):
        topics.records = records
        calls.append(silent())
        now[0] += 0.002
    assert calls == [False, True, False, True]
