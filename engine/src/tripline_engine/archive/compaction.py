"""Which files are worth merging.

While a day goes on, sixteen neighbours become one when it is at least twice as large as the largest of them: a record
is written again a few times at most, however small the files are that it came in. When the day is over, what is
small is merged with its neighbours up to the size of a large file.
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
    """A piece and its file's size in bytes."""

    piece: ArchiveFile
    size: int


def mergeable(files: Sequence[SizedFile], large: int = LARGE_BYTES) -> list[ArchiveFile] | None:
    """The next neighbours to merge, of one partition's files without superseded ones, by offset; None for none."""
    for run in _neighbours(files):
        over = run[0].piece.date != files[-1].piece.date
        chosen = _leftovers(run, large) if over else _alike(run, large)
        if chosen:
            return [file.piece for file in chosen]
    return None


def _neighbours(files: Sequence[SizedFile]) -> Iterator[list[SizedFile]]:
    """Runs of a day where each begins where the one before it ends."""
    for _, day in groupby(files, key=lambda file: file.piece.date):
        run: list[SizedFile] = []
        for file in day:
            if run and run[-1].piece.until != file.piece.first:
                yield run
                run = []
            run.append(file)
        yield run


def _alike(run: Sequence[SizedFile], large: int) -> Sequence[SizedFile] | None:
    for start in range(len(run) - FAN_IN, -1, -1):
        window = run[start : start + FAN_IN]
        sizes = [file.size for file in window]
        if 2 * max(sizes) <= sum(sizes) <= large:
            return window
    return None


def _leftovers(run: Sequence[SizedFile], large: int) -> Sequence[SizedFile] | None:
    for start in range(len(run) - 1):
        total, end = run[start].size, start + 1
        while end < len(run) and total + run[end].size <= large:
            total, end = total + run[end].size, end + 1
        if end > start + 1:
            return run[start:end]
    return None
