"""Disk space for the mapped files of a history at its limit, checked at the start.

Without the check, an engine whose file system is too small fails when it is full, weeks after the start.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

_BYTES_PER_TRANSACTION: Final = 150
"""Bytes of mapped files per retained transaction and anchor, group lists and windows included."""
_BLOCK_BYTES: Final = 512
"""Size of a block as `stat` counts them."""
_GIB: Final = 1 << 30


def disk_shortage(folder: Path, max_transactions: int) -> str | None:
    """A sentence if mapped files of a full history would not fit in this folder; None if they would.

    Files of a previous run count as available space: the next run replaces them.
    """
    available = shutil.disk_usage(folder).free + disk_bytes(folder)
    needed = max_transactions * _BYTES_PER_TRANSACTION
    if needed <= available:
        return None
    return (
        f"{max_transactions:,} transactions (TRIPLINE_MAX_HISTORY) may need {needed / _GIB:,.1f} GiB of mapped files,"
        f" and {folder} (TRIPLINE_PROJECTION_DIR) has room for {available / _GIB:,.1f}: lower the one, or give the"
        " other more"
    )


def disk_bytes(folder: Path) -> int:
    """Disk usage of the files below a folder, by blocks and not by length: mapped files are sparse."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * _BLOCK_BYTES
        except FileNotFoundError:
            continue  # removed meanwhile
    return total
