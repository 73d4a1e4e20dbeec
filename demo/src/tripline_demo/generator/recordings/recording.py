"""Recorded transactions: files as they are found, read row by row, so that a bad one costs itself alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping, Format
from tripline_contracts.recordings.recording import Recording, open_recording
from tripline_contracts.recordings.rows import BadRow
from tripline_demo.generator.errors import InvalidInput
from tripline_demo.generator.recordings.parquet_rows import parquet_rows
from tripline_demo.generator.transaction_input import Transaction, read

BadLine = BadRow


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was understood."""

    line: int
    transaction: Transaction


def opened(
    file: IO[bytes], event_type: EventType, mapping: FileMapping | None = None, form: Format | None = None
) -> Recording:
    """The recording in a file. Raises UnreadableFile."""
    return open_recording(file, event_type, mapping, form=form, parquet=parquet_rows)


def lines_of(recording: Recording, event_type: EventType) -> Iterator[Line | BadLine]:
    """Each row; whatever bytes come, nothing is raised."""
    for row in recording.rows():
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            yield Line(row.line, read(row.data, event_type))
        except InvalidInput as error:
            yield BadRow(row.line, str(error))
