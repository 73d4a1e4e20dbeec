"""An archive file and its name, which holds all metadata that readers and the next writer need.

    eventType=<name>/topic=<topic>/date=<yyyy-mm-dd>/p<partition>-<first offset>-<until>.parquet

`date` is the day (UTC) of the first record's timestamp. Every record of the partition with an offset in
[first, until) is in the file; the next file of the partition begins at `until`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"p(0|[1-9]\d*)-(0|[1-9]\d*)-([1-9]\d*)\.parquet")
_FOLDER: Final = re.compile(r"date=(\d{4,}-\d{2}-\d{2})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DAY_MS: Final = 253_402_300_799_999


@dataclass(frozen=True, slots=True, order=True)
class ArchiveFile:
    """A range of one partition's offsets, `until` exclusive, in the folder of a day."""

    partition: int
    first: int
    until: int
    date: str

    @property
    def path(self) -> Path:
        """Below the folder of the topic."""
        return Path(f"date={self.date}") / f"p{self.partition}-{self.first}-{self.until}.parquet"

    def holds(self, other: ArchiveFile) -> bool:
        """Whether this file's range includes the other file's."""
        return self.partition == other.partition and self.first <= other.first and other.until <= self.until


def parse_path(path: Path) -> ArchiveFile | None:
    """The archive file of a path below a topic's folder; None if the path is not one."""
    name, folder = _NAME.fullmatch(path.name), _FOLDER.fullmatch(path.parent.name)
    if not name or not folder:
        return None
    partition, first, until = map(int, name.groups())
    return ArchiveFile(partition, first, until, folder[1]) if first < until else None


def day_of(timestamp: int) -> str:
    """The day of a record's timestamp (ms since the epoch); what no calendar has counts as its first or last day."""
    within = min(max(timestamp, 0), _LAST_DAY_MS)
    return f"{_EPOCH + timedelta(milliseconds=within):%Y-%m-%d}"
