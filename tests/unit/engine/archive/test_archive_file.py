"""What a file's name says, and which days records belong to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.archive.archive_file import ArchiveFile, day_of, parse_path


@given(st.integers(0, 999), st.integers(0, 2**60), st.integers(1, 2**60), st.integers(-1, 2**62))
def test_a_name_says_what_the_file_is(partition: int, first: int, count: int, timestamp: int) -> None:
    piece = ArchiveFile(partition, first, first + count, day_of(timestamp))
    assert parse_path(Path("topic=t") / piece.path) == piece


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("date=2026-01-02/.aside-p0-0-5.parquet", "not finished"),
        ("date=2026-01-02/p0-5-5.parquet", "empty"),
        ("date=2026-01-02/p0-6-5.parquet", "ends before it begins"),
        ("date=2026-01-02/p0-05-9.parquet", "another spelling of the same range"),
        ("date=2026-01-02/p0-0-5.parquet.crc", "something beside it"),
        ("date=today/p0-0-5.parquet", "no day"),
        ("p0-0-5.parquet", "no folder of a day"),
    ],
)
def test_what_is_not_a_piece(path: str, reason: str) -> None:
    assert parse_path(Path("topic=t") / path) is None, reason


@pytest.mark.parametrize(
    ("timestamp", "day"),
    [
        (1_763_690_000_000, "2025-11-21"),
        (1_763_683_199_999, "2025-11-20"),
        (0, "1970-01-01"),
        (-1, "1970-01-01"),
        (2**62, "9999-12-31"),
    ],
)
def test_the_day_is_utc_and_within_a_calendar(timestamp: int, day: str) -> None:
    assert day_of(timestamp) == day
