"""The few things that the archive does to the disk besides writing into a new file; tests have one that fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """What is done here in this order is found in this order after a loss of power."""

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
