"""Which files of a partition hold what: pieces may overlap, because merged ones stand beside what they were made of.

A merge is killed before it has removed what it merged:

    pieces    [0 ------ 50)[50 - 80)[80 --- 120)        [200 - 230)
              [0 ---------------- 80)
    cover(0)  [0 ---------------- 80)[80 --- 120)                      a gap ends it
    spans     [0 --------------------------- 120)        [200 - 230)
"""

from __future__ import annotations

from collections.abc import Iterable

from tripline_engine.archive.archive_file import ArchiveFile
from tripline_engine.kafka_log.offset_range import OffsetRange


def covering_files(pieces: Iterable[ArchiveFile], start: int) -> list[ArchiveFile]:
    """Pieces of one partition that hold all offsets from `start` up to the first gap, with as few steps as can be.

    Each is to be read from where the one before it ends, the first one from `start`. Empty if no piece has `start`.
    """
    chosen: list[ArchiveFile] = []
    best: ArchiveFile | None = None
    position = start
    for piece in sorted(pieces):
        if piece.first > position:
            if best is None:
                break
            chosen.append(best)
            position, best = best.until, None
            if piece.first > position:
                break
        if piece.until > (best.until if best else position):
            best = piece
    return [*chosen, best] if best else chosen


def archived_ranges(pieces: Iterable[ArchiveFile]) -> list[OffsetRange]:
    """What the pieces of one partition hold together, without gaps in each, ascending."""
    return merged_ranges(OffsetRange(piece.first, piece.until) for piece in pieces)


def merged_ranges(found: Iterable[OffsetRange]) -> list[OffsetRange]:
    """Spans that meet or overlap made one, ascending; empty ones left out."""
    whole: list[OffsetRange] = []
    for span in sorted(span for span in found if span.first < span.until):
        if whole and span.first <= whole[-1].until:
            whole[-1] = OffsetRange(whole[-1].first, max(whole[-1].until, span.until))
        else:
            whole.append(span)
    return whole


def superseded(pieces: Iterable[ArchiveFile]) -> list[ArchiveFile]:
    """Pieces of one partition whose range lies within another's. Of equal ranges one stays."""
    gone: list[ArchiveFile] = []
    widest: ArchiveFile | None = None
    for piece in sorted(pieces, key=lambda piece: (piece.first, -piece.until, piece.date)):
        if widest is not None and widest.holds(piece):
            gone.append(piece)
        else:
            widest = piece
    return gone
