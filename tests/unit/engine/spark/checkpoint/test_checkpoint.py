"""What a checkpoint pins, and that only one engine holds it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tripline_contracts.event_type_loader import load
from tripline_engine.errors import CheckpointExists, CheckpointInUse, CheckpointMismatch, CheckpointMoved
from tripline_engine.spark.checkpoint.checkpoint import (
    Held,
    exclusive,
    is_new,
    new_config,
    open_config,
    pin,
    refuse_existing,
    resume_offsets,
    spark_folder,
    state_format,
)
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends, last_commit
from tripline_engine.spark.state.state_log import STATE_FORMATS

TRANSACTION = load()


def test_the_second_start_is_the_same_engine(tmp_path: Path) -> None:
    first = open_config(tmp_path, TRANSACTION, 2, "wall")
    assert open_config(tmp_path, TRANSACTION, 2, "wall") == first
    assert open_config(tmp_path, TRANSACTION, 2, "data") == replace(first, clock="data")


def test_without_a_number_of_shards_it_has_those_it_was_made_with(tmp_path: Path) -> None:
    one, other = _folders(tmp_path)
    assert open_config(one, TRANSACTION, None, "wall").shards == 1
    open_config(other, TRANSACTION, 3, "wall")
    assert open_config(other, TRANSACTION, None, "wall").shards == 3


def test_each_checkpoint_has_an_engine_and_a_hash_key_of_its_own(tmp_path: Path) -> None:
    one, other = (open_config(path, TRANSACTION, 2, "wall") for path in _folders(tmp_path))
    assert one.engine_id != other.engine_id
    assert one.hash_key != other.hash_key
    assert all(0 <= word < 2**64 for word in one.hash_key + other.hash_key)


def test_another_number_of_shards_is_refused_with_what_to_do(tmp_path: Path) -> None:
    open_config(tmp_path, TRANSACTION, 2, "wall")
    with pytest.raises(
        CheckpointMismatch, match=r"made with 2 shards .* TRIPLINE_SHARDS=2, or build it again with 3"
    ):
        open_config(tmp_path, TRANSACTION, 3, "wall")


@pytest.mark.parametrize(
    "other",
    [
        replace(TRANSACTION, name="swipe"),
        replace(TRANSACTION, version=2),
        replace(TRANSACTION, anchors=("beneficiaryId", "payeeId", "global")),
        replace(TRANSACTION, fields=TRANSACTION.fields[:-1]),
        load("card-authorisation"),
    ],
    ids=["name", "version", "order of anchors", "fields", "the other one that ships"],
)
def test_another_event_type_is_refused(tmp_path: Path, other: object) -> None:
    open_config(tmp_path, TRANSACTION, 2, "wall")
    with pytest.raises(CheckpointMismatch, match="event type transaction version 1"):
        open_config(tmp_path, other, 2, "wall")  # type: ignore[arg-type]


def test_state_of_which_nobody_knows_what_it_was_made_with_is_refused(tmp_path: Path) -> None:
    open_config(tmp_path, TRANSACTION, 2, "wall")
    spark_folder(tmp_path).mkdir()
    (tmp_path / "tripline.json").unlink()
    with pytest.raises(CheckpointMismatch, match=r"tripline\.json.* is gone: .*tripline-engine rebuild"):
        open_config(tmp_path, TRANSACTION, 2, "wall")
    assert not (tmp_path / "tripline.json").exists()


def test_what_people_call_things_may_change(tmp_path: Path) -> None:
    first = open_config(tmp_path, TRANSACTION, 2, "wall")
    renamed = replace(
        TRANSACTION, noun="transfer", fields=tuple(replace(f, label="x") for f in TRANSACTION.fields)
    )
    assert open_config(tmp_path, renamed, 2, "wall").engine_id == first.engine_id


def test_a_checkpoint_from_before_fields_were_pinned_is_taken(tmp_path: Path) -> None:
    first = open_config(tmp_path, TRANSACTION, 2, "wall")
    pinned = json.loads((tmp_path / "tripline.json").read_text())
    del pinned["fields"]
    (tmp_path / "tripline.json").write_text(json.dumps(pinned))
    assert open_config(tmp_path, TRANSACTION, 2, "wall").engine_id == first.engine_id


def test_a_checkpoint_keeps_the_form_of_its_state(tmp_path: Path) -> None:
    open_config(tmp_path, TRANSACTION, 2, "wall")
    assert state_format(tmp_path) == max(STATE_FORMATS)
    pinned = json.loads((tmp_path / "tripline.json").read_text())
    del pinned["stateForm"]
    (tmp_path / "tripline.json").write_text(json.dumps(pinned))
    open_config(tmp_path, TRANSACTION, 2, "wall")
    assert state_format(tmp_path) == 1


def test_state_with_stubs_is_that_of_an_engine_that_knows_names_together_from_now_on(tmp_path: Path) -> None:
    first = open_config(tmp_path, TRANSACTION, 2, "wall")
    pinned = json.loads((tmp_path / "tripline.json").read_text())
    (tmp_path / "tripline.json").write_text(json.dumps({**pinned, "stateForm": 3}))
    assert open_config(tmp_path, TRANSACTION, 2, "wall") == first
    assert json.loads((tmp_path / "tripline.json").read_text()) == {**pinned, "stateForm": 4}


def test_state_of_a_later_version_is_refused(tmp_path: Path) -> None:
    open_config(tmp_path, TRANSACTION, 2, "wall")
    pinned = json.loads((tmp_path / "tripline.json").read_text())
    (tmp_path / "tripline.json").write_text(json.dumps({**pinned, "stateForm": max(STATE_FORMATS) + 1}))
    with pytest.raises(CheckpointMismatch, match=r"later version .*tripline-engine rebuild"):
        open_config(tmp_path, TRANSACTION, 2, "wall")


def test_a_rebuilt_engine_is_the_one_it_was_and_says_where_it_reads_on(tmp_path: Path) -> None:
    config = new_config(TRANSACTION, 3, "data", "engine-7")
    begins = {"transactions.v1": {0: 17, 1: 4}, "rules.v1": {0: 2}}
    pin(tmp_path, config, begins)
    assert open_config(tmp_path, TRANSACTION, None, "data") == config
    assert resume_offsets(tmp_path) == begins


def test_a_checkpoint_is_not_made_where_there_is_one(tmp_path: Path) -> None:
    pinned, running, empty = (tmp_path / name for name in ("pinned", "running", "empty"))
    for folder in (pinned, running, empty):
        folder.mkdir()
    open_config(pinned, TRANSACTION, 2, "wall")
    spark_folder(running).mkdir()
    for folder in (pinned, running):
        assert not is_new(folder)
        with pytest.raises(CheckpointExists, match=f"{folder} has a checkpoint"):
            refuse_existing(folder)
    with exclusive(empty):
        refuse_existing(empty)


def test_a_second_engine_is_kept_out_until_the_first_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with exclusive(folder), pytest.raises(CheckpointInUse, match="another engine"), exclusive(folder):
        pass
    with exclusive(folder):
        pass


def test_a_folder_that_is_moved_away_keeps_its_name_locked(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    with exclusive(folder):
        folder.rename(tmp_path / "aside")
        with pytest.raises(CheckpointInUse, match="another engine"), exclusive(folder):
            pass
        with pytest.raises(CheckpointInUse, match="another engine"), exclusive(tmp_path / "aside"):
            pass
    with exclusive(folder):
        pass


@pytest.mark.parametrize("is_replaced", [False, True])
def test_an_engine_notices_that_its_folder_was_moved_away(tmp_path: Path, *, is_replaced: bool) -> None:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    held = Held(folder)
    held.check()
    folder.rename(tmp_path / "aside")
    if is_replaced:
        folder.mkdir()
    with pytest.raises(CheckpointMoved, match="moved away or replaced while the engine ran"):
        held.check()
    if is_replaced:
        folder.rmdir()
    (tmp_path / "aside").rename(folder)
    held.check()


def test_committed_ends_are_those_of_the_last_commit(tmp_path: Path) -> None:
    folder = spark_folder(tmp_path)
    assert last_commit(folder) is None
    assert committed_ends(folder) == {}
    for batch in (9, 10, 11):
        _offsets(folder, batch, {"transactions.v1": {"0": batch, "1": 2 * batch}})
    for batch in (9, 10):
        _commit(folder, batch)
    (folder / "commits" / ".11.crc").write_text("")
    assert last_commit(folder) == 10
    assert committed_ends(folder) == {"transactions.v1": {0: 10, 1: 20}}


def _folders(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    return folders


def _offsets(folder: Path, batch: int, ends: dict[str, dict[str, int]]) -> None:
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    text = "\n".join(["v1", json.dumps({"batchWatermarkMs": 0}), "-", json.dumps(ends)])
    (folder / "offsets" / str(batch)).write_text(text)


def _commit(folder: Path, batch: int) -> None:
    (folder / "commits").mkdir(parents=True, exist_ok=True)
    (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def test_kept_anchors_are_pinned(tmp_path: Path) -> None:
    keeping = replace(TRANSACTION, kept_anchors=("payeeId",))
    open_config(tmp_path, keeping, 1, "wall")
    assert open_config(tmp_path, keeping, 1, "wall").event_type == keeping
    with pytest.raises(
        CheckpointMismatch, match="made with the kept anchors payeeId, and can't be run with no kept"
    ):
        open_config(tmp_path, TRANSACTION, 1, "wall")


def test_the_sides_of_a_party_are_pinned(tmp_path: Path) -> None:
    (account,) = TRANSACTION.parties
    open_config(tmp_path, replace(TRANSACTION, parties=()), 1, "wall")
    # one that is added is pinned from then on
    open_config(tmp_path, TRANSACTION, 1, "wall")
    turned = replace(account, sides=account.sides[::-1])
    for parties in ((), (replace(account, sides=(*account.sides[:1], replace(turned.sides[0], name="to"))),)):
        with pytest.raises(CheckpointMismatch, match="other sides of account"):
            open_config(tmp_path, replace(TRANSACTION, parties=parties), 1, "wall")
    open_config(tmp_path, TRANSACTION, 1, "wall")
