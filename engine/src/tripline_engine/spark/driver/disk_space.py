"""Whether mapped files of as much history as there may be fit where they are to be.

Told at the start, in daylight: where they don't, the engine ends when the room is full, weeks later.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

_EACH: Final = 150
"""Bytes of mapped files for a transaction and anchor that is held, its lists and windows among them."""
_BLOCK: Final = 512
"""Bytes of what `stat` calls a block."""
_GIB: Final = 1 << 30


def disk_shortage(folder: Path, most: int) -> str | None:
    """A sentence if files of so many transactions would not fit in this folder; None if they would.

    What is there already, of a run before, has its room.
    """
    room, needed = shutil.disk_usage(folder).free + disk_bytes(folder), most * _EACH
    if needed <= room:
        return None
    return (
        f"{most:,} transactions (TRIPLINE_MAX_HISTORY) may need {needed / _GIB:,.1f} GiB of mapped files, and"
        f" {folder} (TRIPLINE_PROJECTION_DIR) has room for {room / _GIB:,.1f}: lower the one, or give the other more"
    )


def disk_bytes(folder: Path) -> int:
    """What the files below it take of the disk: blocks, not lengths, for mapped files have holes."""
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.lstat().st_blocks * _BLOCK
        except FileNotFoundError:
            continue  # removed meanwhile
    return found
