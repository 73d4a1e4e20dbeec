"""The driver's note follows what shards say that rules need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tripline_engine.spark.checkpoint.anchor_note import AnchorNote, read_note
from tripline_engine.spark.driver.anchor_watch import AnchorWatch

ANCHORS = ("payeeId", "beneficiaryId", "global")


def progress(end: int | None) -> dict[str, Any]:
    return {"sources": [{"endOffset": None if end is None else {"rules.v1": {"0": end}}}]}


def counters(*masks: int) -> list[dict[str, int]]:
    return [{"needed_anchors": mask} for mask in masks]


def test_it_has_what_any_shard_needs_at_the_end_of_rules(tmp_path: Path) -> None:
    watch = AnchorWatch(tmp_path, "rules.v1", ANCHORS)
    watch.batch_done(progress(3), counters(0b001, 0b100))
    assert read_note(tmp_path) == AnchorNote(3, frozenset({"payeeId", "global"}))
    watch.batch_done(progress(3), counters(0b100))
    assert read_note(tmp_path) == AnchorNote(3, frozenset({"global"}))
    watch.batch_done(progress(4), counters(0))
    assert read_note(tmp_path) == AnchorNote(4, frozenset())


def test_a_micro_batch_that_says_nothing_leaves_it(tmp_path: Path) -> None:
    watch = AnchorWatch(tmp_path, "rules.v1", ANCHORS)
    watch.batch_done(progress(None), counters(1))
    watch.batch_done(progress(3), [])
    assert read_note(tmp_path) is None


def test_where_it_cannot_be_written_the_next_micro_batch_tries_again(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    watch = AnchorWatch(folder, "rules.v1", ANCHORS)
    watch.batch_done(progress(3), counters(1))
    folder.mkdir()
    watch.batch_done(progress(3), counters(1))
    assert read_note(folder) == AnchorNote(3, frozenset({"payeeId"}))
