"""What a rebuild leaves for the query: all of it or nothing, until the first commit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tripline_contracts.event_type_loader import load
from tripline_engine.spark.checkpoint.checkpoint import new_config, open_config, pin, spark_folder
from tripline_engine.spark.checkpoint.restore_point import (
    judged_ends,
    read_restore_point,
    remove_restore_point,
    write_restore_point,
)
from tripline_engine.spark.checkpoint.state_file import read_state

TRANSACTION = load()
ENDS = {"transactions.v1": {0: 17, 1: 4}}
STATES = [[("head", b"1"), ("segment/payeeId/0", b"\0" * 40_000_000)], [("head", b"2")], []]


def commit(checkpoint: Path) -> None:
    """Micro-batch 0, as Spark does."""
    for name in ("offsets", "commits"):
        (spark_folder(checkpoint) / name).mkdir(parents=True)
    text = "\n".join(["v1", "{}", "-", json.dumps({"transactions.v1": {"0": 20, "1": 5}})])
    (spark_folder(checkpoint) / "offsets" / "0").write_text(text)
    (spark_folder(checkpoint) / "commits" / "0").write_text("v1\n{}")


def test_it_is_there_until_the_first_commit(tmp_path: Path) -> None:
    write_restore_point(tmp_path, STATES)
    assert read_restore_point(tmp_path) is None
    pin(tmp_path, new_config(TRANSACTION, 3, "wall"), ENDS)
    restore_point = read_restore_point(tmp_path)
    assert restore_point is not None
    assert restore_point.ends == judged_ends(tmp_path) == ENDS
    remove_restore_point(tmp_path)
    assert [list(read_state(restore_point.state_file(shard))) for shard in range(3)] == STATES
    commit(tmp_path)
    assert read_restore_point(tmp_path) is None
    assert judged_ends(tmp_path) == {"transactions.v1": {0: 20, 1: 5}}
    remove_restore_point(tmp_path)
    assert not restore_point.folder.exists()


def test_what_a_rebuild_that_was_killed_left_behind_is_of_no_use_to_another_engine(tmp_path: Path) -> None:
    write_restore_point(tmp_path, STATES[:1])
    open_config(tmp_path, TRANSACTION, 1, "wall")
    assert read_restore_point(tmp_path) is None
    remove_restore_point(tmp_path)
    assert not list(tmp_path.glob("beginning*"))


def test_half_a_state_is_none(tmp_path: Path) -> None:
    def breaking() -> Iterator[tuple[str, bytes]]:
        yield "head", b"1"
        raise OSError("no space left")

    write_restore_point(tmp_path, [[("head", b"0")]])
    with pytest.raises(OSError, match="no space"):
        write_restore_point(tmp_path, [[("head", b"1")], breaking()])
    assert not (tmp_path / "beginning").exists()
    write_restore_point(tmp_path, STATES[1:])
    pin(tmp_path, new_config(TRANSACTION, 2, "wall"), ENDS)
    restore_point = read_restore_point(tmp_path)
    assert restore_point is not None
    assert list(read_state(restore_point.state_file(0))) == STATES[1]
