"""Disk space for a history at its limit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tripline_engine.spark.driver.disk_space import disk_shortage

FREE = 150_000_000


def lacking(folder: Path, max_transactions: int) -> str | None:
    with mock.patch("shutil.disk_usage", return_value=SimpleNamespace(free=FREE)):
        return disk_shortage(folder, max_transactions)


def test_what_fits_is_not_told(tmp_path: Path) -> None:
    assert lacking(tmp_path, 1_000_000) is None


def test_what_does_not_is_with_both_settings(tmp_path: Path) -> None:
    said = lacking(tmp_path, 100_000_000) or ""
    assert "100,000,000 transactions (TRIPLINE_MAX_HISTORY) may need 14.0 GiB" in said
    assert f"{tmp_path} (TRIPLINE_PROJECTION_DIR) has room for 0.1" in said


def test_files_of_a_run_before_have_their_room(tmp_path: Path) -> None:
    (tmp_path / "shard-0").mkdir()
    assert lacking(tmp_path, 1_020_000)
    (tmp_path / "shard-0" / "times").write_bytes(b"x" * 4_000_000)
    assert lacking(tmp_path, 1_020_000) is None


def test_a_folder_as_it_is(tmp_path: Path) -> None:
    assert disk_shortage(tmp_path, 1) is None
    assert disk_shortage(tmp_path, 10**12)
