"""The work of a backtest on Spark, cut into tasks: what to read, and by which shard it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import pyarrow as pa

from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.rows import BadRow
from tripline_engine.backtest.ordered.event_cells import CELL
from tripline_engine.backtest.ordered.recorded_file import FileReport, RecordedFile
from tripline_engine.certificate.span import Span
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.kafka_log.record import Record

UNIT_ROWS: Final = 1 << 19
"""Rows of Parquet that one task reads, about: so many that its start does not count."""

RUN, TIMES, REPORT, ALERT, JUDGED = range(5)
"""Kinds of what tasks hand on: sorted transactions of a shard, the span of their event times, what came of a part of a
file; an alert, and how much a shard has judged."""

PACKED: Final = pa.schema(
    [("shardKey", pa.int32()), ("kind", pa.int8()), ("rows", pa.int64()), ("payload", pa.binary())]
)
JUDGEMENTS: Final = pa.schema(
    [("kind", pa.int8()), ("eventTime", pa.int64()), ("alertId", pa.string()), ("payload", pa.binary())]
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a file: row groups of Parquet, or all of another form (`groups` is None)."""

    file: int
    groups: range | None
    rows: int


class Fault(Protocol):
    """What a test has a task do: `stage` is `read` or `judge`, `number` that of the unit or the shard."""

    def __call__(self, stage: str, number: int, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Work:
    """What every task is told.

    :ivar anchors: in the event type's order, each with whether a rule needs it
    :ivar events: what rules.v1 says: the tried rules, and values that they name
    """

    config: EngineConfig
    span: Span
    files: tuple[Path, ...]
    mapping: FileMapping | None
    units: tuple[Unit, ...]
    anchors: Mapping[str, bool]
    events: tuple[Record, ...]
    cell: int = CELL
    fault: Fault | None = None

    def reach(self, stage: str, number: int) -> None:
        """A place where a test may have the task fail."""
        if self.fault is not None:
            self.fault(stage, number)


class Times(msgspec.Struct, frozen=True):
    """Transactions of a unit, and the least and the greatest of their event times (ms)."""

    rows: int
    least: int
    most: int


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


def rows_of(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as one record batch."""
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
