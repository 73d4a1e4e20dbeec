"""``AlertArchive`` as compressed files of lines, each partition's numbered: alerts_2026_01-0001.ndjson.gz."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alert_api.errors import ArchiveFailed
from alert_api.service.past_months import Mark

_SUFFIX: Final = ".ndjson.gz"
_LEVEL: Final = 6


class AlertFiles:
    """In one folder, which is there already. Nothing is written over or deleted but a file that was not finished."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def mark(self, partition: str) -> Mark | None:
        """Reads all of the newest file. Raises ArchiveFailed."""
        try:
            files = self._files(partition)
            return _mark(files[-1]) if files else None
        except (OSError, EOFError, zlib.error) as error:
            raise ArchiveFailed(f"{self._folder}: {error}") from error

    def write(self, partition: str, lines: Iterator[str]) -> None:
        """Whole under its name, or not there. Raises ArchiveFailed."""
        try:
            file = self._folder / f"{partition}-{len(self._files(partition)) + 1:04}{_SUFFIX}"
            unfinished = file.with_suffix(".tmp")
            with unfinished.open("wb") as raw:
                unfinished.chmod(0o600)
                with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as compressed:
                    for line in lines:
                        compressed.write(line.encode() + b"\n")
                raw.flush()
                os.fsync(raw.fileno())
            unfinished.rename(file)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise ArchiveFailed(f"{self._folder}: {error}") from error

    def _files(self, partition: str) -> list[Path]:
        # Of a folder that is not there `glob` would find nothing, as of an empty one.
        files = sorted(file for file in self._folder.iterdir() if file.name.endswith(_SUFFIX))
        return [file for file in files if file.name.rpartition("-")[0] == partition]


def _mark(file: Path) -> Mark:
    alerts = digest = 0
    with gzip.open(file, "rb") as lines:
        for line in lines:
            alerts += 1
            digest += int.from_bytes(
                hashlib.sha256(line.removesuffix(b"\n")).digest()[:8], "big", signed=True
            )
    return Mark(alerts, digest)
