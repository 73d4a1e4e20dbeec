"""Port to the file system: fsync, rename and remove; tests inject failures here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """Operations survive a loss of power in the order of their calls."""

    def sync(self, path: Path) -> None:
        """Waits until a file's content, or a folder's list of names, is on the disk."""

    def rename(self, path: Path, target: Path) -> None:
        """Gives a file another name in the same file system, whole or not at all."""

    def remove(self, path: Path) -> None:
        """Removes a file. One that is not there is no error."""


class LocalDisk:
    """A file system of this machine."""

    def sync(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, path: Path, target: Path) -> None:
        path.rename(target)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
