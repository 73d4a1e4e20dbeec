"""Memory that payments have touched, by anchor and by what it is for: of the files of a shard's arrays, the blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.table import Table

_COLUMNS: Final = "columns of transactions"
_OF_PREFIX: Final = {
    "values": "their texts, once each",
    "ids": "remembered ids",
    "by": "lists and windows",
    "groups": "numbers of groups",
    "rule": "firing states",
}
"""By the first part of an array's name after the anchor's; all others are columns."""
LOG: Final = "state log"
STRUCTURES: Final = (_COLUMNS, *_OF_PREFIX.values(), LOG)
_BLOCK: Final = 512
"""Bytes of a block as `stat` counts them."""

Touched = Counter[tuple[str, str]]
"""Bytes by anchor and structure."""


def structure_of(array: str) -> tuple[str, str] | None:
    """Anchor and structure of the array with that name; None for what belongs to no anchor."""
    anchor, dot, rest = array.partition(".")
    return (anchor, _OF_PREFIX.get(rest.partition(".")[0], _COLUMNS)) if dot else None


def touched(folder: Path) -> Touched:
    """What the files of the folder take on the disk: a page that nobody has written to takes nothing."""
    sizes: Touched = Counter()
    for path in folder.iterdir():
        owner = structure_of(path.name)
        if owner is not None:
            sizes[owner] += path.stat().st_blocks * _BLOCK
    return sizes


def table(anchors: Sequence[str], payments: int, runs: Sequence[tuple[str, Touched]]) -> Table:
    """Bytes for each payment: a row for each structure, a column for each anchor of each run."""
    shown = Table("bytes for each payment", *(f"{name}: {anchor}" for name, _ in runs for anchor in anchors))
    for structure in (*STRUCTURES, "all"):
        cells = [
            sum(size for (anchor, of), size in sizes.items() if anchor == one and structure in (of, "all"))
            for _, sizes in runs
            for one in anchors
        ]
        shown.add_row(structure, *(f"{size / payments:.1f}" for size in cells))
    return shown
