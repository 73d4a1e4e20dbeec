"""The note of needed anchors is believed where no rule event can have come since, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tripline_engine.spark.checkpoint.anchor_note import (
    AnchorNote,
    read_note,
    remove_note,
    rules_end,
    wanted_anchors,
    write_note,
)
from tripline_engine.spark.checkpoint.checkpoint import spark_folder

NOTE = AnchorNote(7, frozenset({"payeeId"}))


def plan(checkpoint: Path, batch: int, rules_ends: dict[str, int]) -> None:
    """Spark's record of where a micro-batch ends."""
    folder = spark_folder(checkpoint) / "offsets"
    folder.mkdir(parents=True, exist_ok=True)
    sources = [{"rules.v1": rules_ends, "engine-ticks.v1": {"0": 90}}, {"transactions.v1": {"0": 5, "1": 6}}]
    lines = ["v1", "{}", *map(json.dumps, sources)]
    (folder / str(batch)).write_text("\n".join(lines), encoding="utf-8")


def test_of_the_same_end_of_rules(tmp_path: Path) -> None:
    plan(tmp_path, 12, {"0": 7})
    write_note(tmp_path, NOTE)
    assert wanted_anchors(tmp_path, "rules.v1", "12") == {"payeeId"}


@pytest.mark.parametrize("ends", [{"0": 8}, {"0": 6}, {"0": 7, "1": 0}, {}])
def test_of_another_end_all_are_wanted(tmp_path: Path, ends: dict[str, int]) -> None:
    plan(tmp_path, 12, ends)
    write_note(tmp_path, NOTE)
    assert wanted_anchors(tmp_path, "rules.v1", "12") is None


@pytest.mark.parametrize("batch", [None, "13", "x"])
def test_of_a_micro_batch_that_nobody_planned_all_are_wanted(tmp_path: Path, batch: str | None) -> None:
    plan(tmp_path, 12, {"0": 7})
    write_note(tmp_path, NOTE)
    assert wanted_anchors(tmp_path, "rules.v1", batch) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"rulesEnd": "x", "needed": []}', '{"rulesEnd": 7, "needed": "x"}']
)
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "anchors.json").write_text(text, encoding="utf-8")
    assert read_note(tmp_path) is None
    plan(tmp_path, 12, {"0": 7})
    assert wanted_anchors(tmp_path, "rules.v1", "12") is None


def test_a_removed_one_is_none_and_may_be_removed_twice(tmp_path: Path) -> None:
    write_note(tmp_path, NOTE)
    assert read_note(tmp_path) == NOTE
    remove_note(tmp_path)
    remove_note(tmp_path)
    assert read_note(tmp_path) is None


def test_the_end_in_spark_s_progress() -> None:
    sources = [{"endOffset": {"rules.v1": {"0": 7}, "engine-ticks.v1": {"0": 90}}}, {"endOffset": None}]
    assert rules_end({"sources": sources}, "rules.v1") == 7
    assert rules_end({"sources": sources}, "other.rules.v1") is None
    assert rules_end({"sources": [{"endOffset": "text"}, {}]}, "rules.v1") is None
    assert rules_end({}, "rules.v1") is None
