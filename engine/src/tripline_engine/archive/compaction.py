"""Compaction policy: the choice of neighbouring files to merge.

During a day, sixteen neighbours become one file when it is at least twice as large as the largest of them: a record
is rewritten a few times at most, however small its first file was. When the day is over, small files are merged with
their neighbours up to the size of a large file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from tripline_engine.archive.archive_file import ArchiveFile

FAN_IN: Final = 16
LARGE_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class SizedFile:
    """A file and its size in bytes."""

    file: ArchiveFile
    size: int


def mergeable(files: Sequence[SizedFile], large: int = LARGE_BYTES) -> list[ArchiveFile] | None:
    """The next neighbours to merge, from one partition's files by offset, without superseded ones; None for none."""
    for run in _neighbours(files):
        is_past_day = run[0].file.date != files[-1].file.date
        neighbours = _small_files(run, large) if is_past_day else _tier(run, large)
        if neighbours:
            return [sized.file for sized in neighbours]
    return None


def _neighbours(files: Sequence[SizedFile]) -> Iterator[list[SizedFile]]:
    """Runs of files of one day without a gap between them."""
    for _, day in groupby(files, key=lambda sized: sized.file.date):
        run: list[SizedFile] = []
        for sized in day:
            if run and run[-1].file.until != sized.file.first:
                yield run
                run = []
            run.append(sized)
        yield run


def _tier(run: Sequence[SizedFile], large: int) -> Sequence[SizedFile] | None:
    """FAN_IN neighbours of similar size, the newest first."""
    for start in range(len(run) - FAN_IN, -1, -1):
        window = run[start : start + FAN_IN]
        sizes = [sized.size for sized in window]
        if 2 * max(sizes) <= sum(sizes) <= large:
            return window
    return None


def _small_files(run: Sequence[SizedFile], large: int) -> Sequence[SizedFile] | None:
    """Two or more neighbours that fit into one large file."""
    for start in range(len(run) - 1):
        total, end = run[start].size, start + 1
        while end < len(run) and total + run[end].size <= large:
            total, end = total + run[end].size, end + 1
        if end > start + 1:
            return run[start:end]
    return None
