"""Which files hold what: against a count of every offset."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.archive.file_ranges import archived_ranges, covering_files, merged_ranges, superseded
from tripline_engine.kafka_log.offset_range import OffsetRange

DAY = "2026-01-02"
RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=12)


def pieces_of(ranges: list[tuple[int, int]]) -> list[ArchiveFile]:
    return [ArchiveFile(0, first, first + length, DAY) for first, length in ranges]


def offsets(pieces: list[ArchiveFile]) -> set[int]:
    return {offset for piece in pieces for offset in range(piece.first, piece.until)}


@given(RANGES, st.integers(0, 35))
def test_a_cover_goes_without_gap_to_the_first_offset_that_nobody_has(
    ranges: list[tuple[int, int]], start: int
) -> None:
    pieces = pieces_of(ranges)
    there = offsets(pieces)
    end = next(offset for offset in range(start, 100) if offset not in there)
    position = start
    for piece in covering_files(pieces, start):
        assert piece in pieces
        assert piece.first <= position < piece.until
        position = piece.until
    assert position == end


@given(RANGES)
def test_superseded_are_those_within_another_and_the_rest_has_all(ranges: list[tuple[int, int]]) -> None:
    pieces = sorted(set(pieces_of(ranges)))
    gone = superseded(pieces)
    kept = [piece for piece in pieces if piece not in gone]
    assert offsets(kept) == offsets(pieces)
    assert all(any(other.holds(piece) for other in kept) for piece in gone)
    assert not any(one is not other and one.holds(other) for one in kept for other in kept)


def test_of_the_same_range_in_two_days_one_stays() -> None:
    twice = [ArchiveFile(0, 0, 5, "2026-01-02"), ArchiveFile(0, 0, 5, "2026-01-03")]
    assert superseded(twice) == twice[1:]


@given(RANGES)
def test_spans_are_what_is_there_with_a_gap_between_each_two(ranges: list[tuple[int, int]]) -> None:
    archived = archived_ranges(pieces_of(ranges))
    assert {offset for span in archived for offset in range(*span)} == offsets(pieces_of(ranges))
    assert all(before.until < after.first for before, after in pairwise(archived))


def test_empty_spans_join_nothing() -> None:
    assert merged_ranges([OffsetRange(7, 7), OffsetRange(3, 5), OffsetRange(5, 5)]) == [OffsetRange(3, 5)]
