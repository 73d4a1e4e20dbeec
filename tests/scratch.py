"""Temporary folders of tests in memory, where there is plenty: they make tens of thousands of files, and sync them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
DISK = Path("/var/tmp")
"""For what takes gigabytes."""
ROOM = 14 * 2**30
"""Bytes that are to be free: what is in the folders of a whole run, and what runs beside it."""


def use_memory() -> None:
    """From now on, in this process and those that it starts; whoever names TMPDIR decides that."""
    if "TMPDIR" not in os.environ and _has_room(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _has_room(folder: Path) -> bool:
    try:
        system = os.statvfs(folder)
    except OSError:
        return False
    free = min(system.f_bavail * system.f_frsize, psutil.virtual_memory().available)
    # programs are installed there as well
    return os.access(folder, os.W_OK) and free >= ROOM and not system.f_flag & os.ST_NOEXEC
