"""What is merged: neighbours of a day that are small, few times over."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.archive.compaction import FAN_IN, SizedFile, mergeable

LARGE = 10_000


def day(number: int) -> str:
    return f"2026-01-{number:02}"


def row(sizes: list[int], date: str = day(1), first: int = 0) -> list[SizedFile]:
    """Neighbours of these sizes, each of ten offsets."""
    return [
        SizedFile(ArchiveFile(0, first + 10 * n, first + 10 * n + 10, date), size)
        for n, size in enumerate(sizes)
    ]


def merged(files: list[SizedFile], chosen: list[ArchiveFile]) -> list[SizedFile]:
    size = sum(file.size for file in files if file.file in chosen)
    whole = ArchiveFile(0, chosen[0].first, chosen[-1].until, chosen[0].date)
    rest = [file for file in files if file.file not in chosen]
    return sorted([*rest, SizedFile(whole, size)], key=lambda file: file.file)


def test_while_the_day_goes_on_sixteen_become_one() -> None:
    files = row([100] * (FAN_IN - 1))
    assert mergeable(files, LARGE) is None
    files = row([100] * FAN_IN)
    assert mergeable(files, LARGE) == [file.file for file in files]


def test_a_large_one_is_not_written_again_for_some_small_ones() -> None:
    assert mergeable(row([2000, *[100] * (FAN_IN - 1)]), LARGE) is None
    assert mergeable(row([1500, *[100] * (FAN_IN - 1)]), LARGE) is not None


def test_what_would_be_too_large_stays() -> None:
    assert mergeable(row([LARGE // FAN_IN + 1] * FAN_IN), LARGE) is None


def test_a_gap_parts_neighbours() -> None:
    files = row([100] * 8) + row([100] * 8, first=1000)
    assert mergeable(files, LARGE) is None


def test_when_the_day_is_over_small_neighbours_become_one_up_to_the_size_of_a_large_one() -> None:
    yesterday = row([6000, 3000, 2000, 100])
    today = row([100] * 3, day(2), first=1000)
    assert mergeable(yesterday, LARGE) is None
    assert mergeable([*yesterday, *today], LARGE) == [file.file for file in yesterday[:2]]


def test_a_record_from_the_far_future_ends_no_day_for_those_after_it() -> None:
    odd = row([100], "9999-12-31", first=50)
    assert mergeable([*row([9000, 100]), *odd, *row([100], first=100)], LARGE) is None


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 30)), min_size=1, max_size=300))
def test_it_comes_to_an_end_with_few_files_and_few_rewritings(arriving: list[tuple[int, int]]) -> None:
    """File by file, on some days; at the end the days are over."""
    files: list[SizedFile] = []
    date, written, total = 1, 0, 0
    for number, (size, skip) in enumerate(arriving):
        date = min(27, date + (skip == 0))
        files += [SizedFile(ArchiveFile(0, 10 * number, 10 * number + 10, day(date)), size)]
        total += size
        while chosen := mergeable(files, LARGE):
            before = {file.file: file.size for file in files}
            written += sum(before[piece] for piece in chosen)
            files = merged(files, chosen)
            assert {piece.date for piece in chosen} == {chosen[0].date}
            assert all(one.until == other.first for one, other in pairwise(chosen))
    files += [SizedFile(ArchiveFile(0, 10 * len(arriving), 10 * len(arriving) + 10, day(28)), 1)]
    while chosen := mergeable(files, LARGE):
        files = merged(files, chosen)
    # within a day doubling bounds it: from 1 to LARGE in fourteen steps
    assert written <= 16 * total
    for one, other in pairwise(files):
        assert one.file.date != other.file.date or one.size + other.size > LARGE
