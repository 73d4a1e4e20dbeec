"""Files cut into units: what to read, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.rows import BadRow
from tripline_engine.backtest.on_spark.grid_tasks import packed_runs
from tripline_engine.backtest.on_spark.work import PACKED, REPORT, Work, rows_of
from tripline_engine.backtest.ordered.file_history import before
from tripline_engine.backtest.ordered.recorded_file import FileReport, RecordedFile
from tripline_engine.spark.rows.packing import REJECTS_SHARD
from tripline_engine.spark.rows.shard_keys import shard_keys

UNIT_ROWS: Final = 1 << 19
"""Rows of Parquet that one task reads, about: so many that its start does not count."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a file: row groups of Parquet, or all of another form (`groups` is None)."""

    file: int
    groups: range | None
    rows: int


class Reported(msgspec.Struct, frozen=True):
    """What came of a unit; `unread` are lines and reasons."""

    file: int
    rows: int
    bad: int
    unread: list[tuple[int, str]]
    unused: list[str]

    @staticmethod
    def of(file: int, report: FileReport) -> Reported:
        """Of a part of that file."""
        unread = [(one.line, one.reason) for one in report.unread]
        return Reported(file, report.rows, report.bad, unread, list(report.unused))


@dataclass(frozen=True, slots=True)
class FileUnits:
    """A source of units of files, which all machines see under the same paths."""

    files: tuple[Path, ...]
    mapping: FileMapping | None
    units: tuple[Unit, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.units)

    def packed(self, work: Work, unit: int) -> Iterator[pa.RecordBatch]:
        """A unit's runs, and what could not be read."""
        event_type, of = work.config.event_type, self.units[unit]
        recorded = RecordedFile(of.file, self.files[of.file], event_type, self.mapping)
        for transactions, _ in recorded.transactions(of.groups):
            yield from packed_runs(work, before(work.span.until, transactions, event_type))
        report = msgspec.json.encode(Reported.of(of.file, recorded.report))
        yield rows_of(PACKED, [(shard_keys(work.config.shards)[REJECTS_SHARD], REPORT, 0, report)])


def units_of(files: Sequence[RecordedFile]) -> list[Unit]:
    """All parts of the files. Raises UnreadableRecording for one that cannot be opened."""
    units: list[Unit] = []
    for number, file in enumerate(files):
        sizes = file.group_rows()
        if sizes is None:
            units.append(Unit(number, None, 0))
            continue
        first = rows = 0
        for group, size in enumerate(sizes):
            if rows and rows + size > UNIT_ROWS:
                units.append(Unit(number, range(first, group), rows))
                first, rows = group, 0
            rows += size
        # of a file without row groups too: its columns are told
        units.append(Unit(number, range(first, len(sizes)), rows))
    return units


def whole_reports(parts: Sequence[Reported], names: Sequence[str]) -> list[FileReport]:
    """The reports of the files, in the order of their lines."""
    reports = [FileReport(name) for name in names]
    for part in sorted(parts, key=lambda one: (one.file, one.unread[:1])):
        report = reports[part.file]
        report.rows += part.rows
        report.unused = part.unused
        for line, reason in part.unread:
            report.leave_out(BadRow(line, reason))
        report.bad += part.bad - len(part.unread)
    return reports
