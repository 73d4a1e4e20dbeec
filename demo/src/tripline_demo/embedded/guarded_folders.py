"""Folders that a server may read and not change."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tripline_demo.errors import PostgresFailed

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def own_folder(path: Path) -> None:
    """Makes the folder if it is not there, and takes from everybody else the right to write to it.

    Raises PostgresFailed if the name stands for something else than a folder of ours: whoever put it there could put
    links into it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o755)
    except FileExistsError:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise PostgresFailed(
                f"{path} is no folder of the user who starts PostgreSQL: move it away."
            ) from None
    mode = stat.S_IMODE(path.lstat().st_mode)
    if mode & _WRITABLE_BY_OTHERS:
        path.chmod(mode & ~_WRITABLE_BY_OTHERS)


def open_to_group(path: Path, group: int | None) -> None:
    """Lets that group read the folder, which is ours, and nobody else; without a group we alone."""
    if group is not None:
        os.chown(path, -1, group, follow_symlinks=False)
    path.chmod(0o700 if group is None else 0o750)
