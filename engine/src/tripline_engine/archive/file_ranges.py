"""Offset ranges of a partition's files, which may overlap: a merged file can stand beside its sources.

A merge killed before it has removed its sources:

    files              [0 ------ 50)[50 - 80)[80 --- 120)        [200 - 230)
                       [0 ---------------- 80)
    covering_files(0)  [0 ---------------- 80)[80 --- 120)                      ends at the gap
    archived_ranges    [0 --------------------------- 120)        [200 - 230)
"""

from __future__ import annotations

from collections.abc import Iterable

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.kafka_log.offset_range import OffsetRange


def covering_files(files: Iterable[ArchiveFile], start: int) -> list[ArchiveFile]:
    """The fewest files of one partition that hold all offsets from `start` up to the first gap.

    Each is to be read from where the one before it ends, the first one from `start`. Empty if no file has `start`.
    """
    chosen: list[ArchiveFile] = []
    best: ArchiveFile | None = None
    position = start
    for file in sorted(files):
        if file.first > position:
            if best is None:
                break
            chosen.append(best)
            position, best = best.until, None
            if file.first > position:
                break
        if file.until > (best.until if best else position):
            best = file
    return [*chosen, best] if best else chosen


def archived_ranges(files: Iterable[ArchiveFile]) -> list[OffsetRange]:
    """Offset ranges in the files of one partition: gapless, ascending."""
    return merged_ranges(OffsetRange(file.first, file.until) for file in files)


def merged_ranges(ranges: Iterable[OffsetRange]) -> list[OffsetRange]:
    """Union of ranges: adjacent and overlapping ones merged, ascending, without empty ones."""
    merged: list[OffsetRange] = []
    for span in sorted(span for span in ranges if span.first < span.until):
        if merged and span.first <= merged[-1].until:
            merged[-1] = OffsetRange(merged[-1].first, max(merged[-1].until, span.until))
        else:
            merged.append(span)
    return merged


def superseded(files: Iterable[ArchiveFile]) -> list[ArchiveFile]:
    """Files of one partition whose range lies within another's. Of equal ranges one stays."""
    gone: list[ArchiveFile] = []
    widest: ArchiveFile | None = None
    for file in sorted(files, key=lambda file: (file.first, -file.until, file.date)):
        if widest is not None and widest.holds(file):
            gone.append(file)
        else:
            widest = file
    return gone
