"""A history's columns on files: dropped rows and pruned fields release their memory, and compaction loses nothing."""

from __future__ import annotations

import mmap
import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.domain.history.column_pruning import RELEASED_BYTES
from tripline_engine.domain.history.history import History, HistoryTuning
from tripline_engine.domain.memory.arena import whole_pages
from tripline_engine.domain.memory.mapped_arena import MappedArena, MappedArenaTuning
from tripline_engine.domain.transactions.columns import TransactionBatch, segment_schema
from tripline_engine.domain.transactions.hash_key import HashKey

KEY = HashKey(1, 2)


def rows(start: int, count: int) -> TransactionBatch:
    numbers = range(start, start + count)
    columns = {
        "eventTime": np.arange(start, start + count),
        "recordTime": np.arange(start, start + count),
        "transactionId": [f"t{n}" for n in numbers],
        "ingestionTimestamp": list(numbers),
        "payeeId": ["p"] * count,
        "beneficiaryId": [f"b{n}" for n in numbers],
        "paymentType": ["CSH"] * count,
        "paymentAmount": [Decimal(n) for n in numbers],
    }
    schema = segment_schema(TRANSACTION)
    return TransactionBatch.of(
        pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema),
        TRANSACTION,
    )


def pruned_all(history: History, field: str, floor: int) -> None:
    """Prune a field as far as it goes; each call takes a piece."""
    for _ in range(history.end // HistoryTuning().scanned_rows + 1):
        history.prune(field, floor)


def test_pruned_fields_release_their_pages_of_mapped_files(tmp_path: Path) -> None:
    arena = MappedArena(tmp_path)
    history = History(arena, "payeeId", TRANSACTION, KEY)
    for start in range(0, 200_000, 50_000):
        history.append(rows(start, 50_000))
    path = tmp_path / "payeeId.code.beneficiaryId"
    size, held = path.stat().st_size, path.stat().st_blocks * 512
    for field in ("beneficiaryId", "ingestionTimestamp", "paymentAmount"):
        pruned_all(history, field, 150_000)
    assert history.values["beneficiaryId"].used == 50_000
    assert path.stat().st_size == size
    if not history.released_bytes:
        pytest.skip("this file system makes no holes")
    pruned = whole_pages(150_000 * 4) + whole_pages(150_000 * 8) + 2 * whole_pages(150_000 * 8)
    # of each of the four columns less than a piece may be pruned and not released yet
    assert pruned - 4 * RELEASED_BYTES <= history.released_bytes <= pruned
    os.sync()
    assert path.stat().st_blocks * 512 <= held - whole_pages(150_000 * 4) + RELEASED_BYTES
    assert history.value("beneficiaryId", 150_000) == "b150000"
    assert history.value("paymentAmount", 199_999) == "199999"
    # another process sees how far it is pruned
    other = History(MappedArena(tmp_path), "payeeId", TRANSACTION, KEY)
    assert other.released_bytes == history.released_bytes
    other.restore({"beneficiaryId", "paymentAmount", "ingestionTimestamp"})
    assert history.released_bytes == other.released_bytes == 0
    assert (other.codes("beneficiaryId")[:150_000] == -1).all()
    assert other.partial(149_999, {"beneficiaryId", "ingestionTimestamp"}) == {
        "transactionId": "t149999",
        "beneficiaryId": None,
        "ingestionTimestamp": None,
    }
    assert other.partial(150_000, {"beneficiaryId", "ingestionTimestamp"}) == {
        "transactionId": "t150000",
        "beneficiaryId": "b150000",
        "ingestionTimestamp": 150_000,
    }


def test_dropped_rows_release_their_memory_before_and_after_compaction(tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, KEY)
    # of each file the page with its end and the one with its first retained row are partly used
    first, later, edges = 100_000, 60_000, 2 * len(list(tmp_path.iterdir())) * mmap.PAGESIZE
    history.append(rows(0, first))
    os.sync()
    whole = on_disk(tmp_path)
    history.drop(5_000)
    assert history.released_bytes == 0  # less than a release is worth
    history.drop(later)
    if not history.released_bytes:
        pytest.skip("this file system makes no holes")
    os.sync()
    assert on_disk(tmp_path) <= whole * (first - later) / first + edges
    assert history.ids(np.array([later, first - 1])) == [f"t{later}", f"t{first - 1}"]
    # another process sees how much of it has gone
    other = History(MappedArena(tmp_path), "payeeId", TRANSACTION, KEY)
    assert other.released_bytes == history.released_bytes
    assert whole - on_disk(tmp_path) <= history.released_bytes + edges
    assert other.compact() == later
    os.sync()
    # neither before what has moved down nor behind it
    assert other.released_bytes == 0
    assert on_disk(tmp_path) <= whole * (first - later) / first + edges
    kept = first - later
    assert other.ids(np.array([0, kept - 1])) == [f"t{later}", f"t{first - 1}"]
    assert list(other.time[[0, kept - 1]]) == [later, first - 1]
    other.append(rows(first, 30_000))
    assert other.ids(np.array([kept, kept + 29_999])) == [f"t{first}", f"t{first + 29_999}"]
    assert other.value("beneficiaryId", kept - 1) == f"b{first - 1}"
    assert other.value("paymentAmount", kept) == str(first)


def on_disk(folder: Path) -> int:
    """Bytes that the history's own files take there, but for its tables of texts."""
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir() if ".values." not in path.name)


def test_a_system_without_holes_releases_nothing_and_reports_so(tmp_path: Path) -> None:
    arena = MappedArena(tmp_path, tuning=MappedArenaTuning(hole_advice=-1))
    history = History(arena, "payeeId", TRANSACTION, KEY)
    history.append(rows(0, 30_000))
    history.drop(20_000)
    assert history.released_bytes == 0
    assert history.compact() == 20_000
    assert history.ids(np.array([0, 9_999])) == ["t20000", "t29999"]


@pytest.mark.parametrize("floor", [1_500, 4_500])
def test_compaction_and_drops_leave_out_what_was_pruned(floor: int, tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, KEY)
    history.append(rows(0, 5_000))
    pruned_all(history, "beneficiaryId", floor)
    pruned_all(history, "paymentAmount", floor)
    assert history.values["beneficiaryId"].used == 5_000 - floor
    history.drop(3_000)
    assert history.values["beneficiaryId"].used == min(2_000, 5_000 - floor)
    assert history.compact() == 3_000
    shown = [history.value("paymentAmount", row) for row in (1_999, 1_600)]
    assert shown == ["4999", "4600"]
    assert history.value("beneficiaryId", 1_999) == "b4999"
    history.append(rows(5_000, 3_000))
    history.restore({"beneficiaryId"})
    first = max(floor - 3_000, 0)
    codes = history.codes("beneficiaryId")
    assert (codes[:first] == -1).all()
    assert (codes[first : history.end] >= 0).all()
    assert history.value("beneficiaryId", first) == f"b{first + 3_000}"
    history.drop(history.end)
    assert history.values["beneficiaryId"].used == 0


def test_a_field_that_is_pruned_again_after_it_was_named_is_released_once(tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, KEY)
    history.append(rows(0, 1_000))
    history.prune("beneficiaryId", 500)
    history.restore({"beneficiaryId"})
    history.prune("beneficiaryId", 700)
    assert history.values["beneficiaryId"].used == 300
    history.drop(800)
    assert history.values["beneficiaryId"].used == 200
