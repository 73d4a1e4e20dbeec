"""Settings from the environment, and the sentences for wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripline_engine.errors import BadSettings
from tripline_engine.spark.faults.fault_points import parse_fault_point
from tripline_engine.spark.settings import from_environment, local_master

NEEDED = {
    "TRIPLINE_KAFKA": "127.0.0.1:9092",
    "TRIPLINE_CHECKPOINT": "/data/checkpoint",
    "TRIPLINE_PROJECTION_DIR": "/data/projection",
    "TRIPLINE_JARS": "/data/jars",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_defaults(environment: pytest.MonkeyPatch) -> None:
    settings = from_environment()
    assert (settings.shards, settings.clock, settings.topic_prefix) == (None, "wall", "")
    assert settings.spark_master == "local[2,4]"
    assert (settings.metrics_host, settings.metrics_port) == ("127.0.0.1", 9103)
    assert settings.checkpoint == Path("/data/checkpoint")
    assert settings.topic("rules.v1") == "rules.v1"
    assert settings.event_type.name == "transaction"
    assert settings.driver_mebibytes == 2048


def test_micro_batches_may_be_larger_where_a_long_backlog_waits(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_MAX_TRANSACTIONS_PER_BATCH", "1001")
    settings = from_environment()
    assert settings.largest_batch(catching_up=False) == 1001
    assert settings.largest_batch(catching_up=True) == 2502


def test_the_event_type_is_the_installations(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_EVENT_TYPE", "card-authorisation")
    assert from_environment().event_type.name == "card-authorisation"


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_missing_is_named(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.delenv(name)
    with pytest.raises(BadSettings, match=name):
        from_environment()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRIPLINE_SHARDS", "0"),
        ("TRIPLINE_SHARDS", "two"),
        ("TRIPLINE_CLOCK", "sun"),
        ("TRIPLINE_MAX_TRANSACTIONS_PER_BATCH", "-1"),
        ("TRIPLINE_EVENT_TYPE", "cards"),
        ("TRIPLINE_EVENT_TYPE", "/nowhere/cards.yaml"),
        ("TRIPLINE_METRICS_BIND", "9103"),
        ("TRIPLINE_METRICS_BIND", "127.0.0.1:99999"),
        ("TRIPLINE_DRIVER_MEMORY", "2gb"),
        ("TRIPLINE_DRIVER_MEMORY", "2048"),
        ("TRIPLINE_DRIVER_MEMORY", "0g"),
        ("TRIPLINE_POLL_MS", "0"),
        ("TRIPLINE_BATCH_INTERVAL_MS", "-1"),
        ("TRIPLINE_BATCH_INTERVAL_MS", "60001"),
    ],
)
def test_what_is_wrong_is_named(environment: pytest.MonkeyPatch, name: str, value: str) -> None:
    environment.setenv(name, value)
    with pytest.raises(BadSettings, match=name.removeprefix("TRIPLINE_")):
        from_environment()


@pytest.mark.parametrize(("given", "expected"), [("3g", 3072), ("1536m", 1536), ("1G", 1024)])
def test_the_heap_is_in_mebibytes(environment: pytest.MonkeyPatch, given: str, expected: int) -> None:
    environment.setenv("TRIPLINE_DRIVER_MEMORY", given)
    assert from_environment().driver_mebibytes == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("spark://127.0.0.1:7077", "spark://127.0.0.1:7077"),
    ],
)
def test_local_tasks_get_more_than_one_attempt(given: str, expected: str) -> None:
    assert local_master(given) == expected


def test_fault_points_are_for_tests_and_read_strictly(tmp_path: Path) -> None:
    assert parse_fault_point(None, 1) is None
    for point in ("plan", "task", "flush", "commit"):
        fault_point = parse_fault_point(f"{point}:t-17:{tmp_path}/marker", 1)
        assert fault_point is not None
        assert (fault_point.where, fault_point.text, fault_point.marker) == (
            point,
            b"t-17",
            tmp_path / "marker",
        )
    for wrong in ("task", "task:x", "commit:", "sink:x:/marker"):
        with pytest.raises(BadSettings, match="TRIPLINE_FAULT_POINT"):
            parse_fault_point(wrong, 1)
