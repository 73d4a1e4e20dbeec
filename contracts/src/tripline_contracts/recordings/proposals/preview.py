"""A file's first rows as they would be read with a mapping, and what cannot be read, by line and reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.field_values import checked, given
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.proposals.file_head import Head
from tripline_contracts.recordings.recording import Recording, open_recording
from tripline_contracts.recordings.rows import BadRow, Row

READ: Final = 200
SHOWN: Final = 20

Values = Mapping[str, str | int | None]
"""A transaction's: texts, ms, plain decimals."""


@dataclass(frozen=True, slots=True)
class PreviewedRow:
    """A row that is read."""

    line: int
    values: Values


@dataclass(frozen=True, slots=True)
class Preview:
    """What becomes of the first rows.

    :ivar rows: the first of those that are read
    :ivar refused: the first of those that are not
    :ivar read: how many are read of all that were looked at
    :ivar bad: how many are not
    :ivar unused: columns that nothing is read from
    :ivar ends: all of the file was looked at
    """

    rows: tuple[PreviewedRow, ...]
    refused: tuple[BadRow, ...]
    read: int
    bad: int
    unused: tuple[str, ...]
    ends: bool


def preview(head: Head, event_type: EventType, mapping: FileMapping | None) -> Preview:
    """Reads the first bytes. Raises UnreadableFile where the mapping does not fit the file at all."""
    recording = open_recording(head.opened(), event_type, mapping)
    rows = list(islice(recording.rows(), READ + 1))
    ends = len(rows) <= READ and not head.is_cut
    if head.is_cut and len(rows) <= READ and rows and _is_cut_off(rows[-1]):
        rows.pop()
    damage = [] if head.damage is None else [BadRow(head.content.count(b"\n") + 1, head.damage)]
    return _preview([*rows[:READ], *damage], event_type, recording.unused, ends=ends)


def preview_of(recording: Recording, event_type: EventType) -> Preview:
    """The same of a file that is opened already."""
    rows = list(islice(recording.rows(), READ + 1))
    return _preview(rows[:READ], event_type, recording.unused, ends=len(rows) <= READ)


def _is_cut_off(row: Row | BadRow) -> bool:
    """An element or a quote that the first bytes end amid: the file goes on."""
    return isinstance(row, BadRow) and ("can be read from here on" in row.reason or "a quote" in row.reason)


def _preview(
    looked_at: Sequence[Row | BadRow], event_type: EventType, unused: tuple[str, ...], *, ends: bool
) -> Preview:
    rows: list[PreviewedRow] = []
    refused: list[BadRow] = []
    for row in looked_at:
        one = row if isinstance(row, BadRow) else _checked(row, event_type)
        if isinstance(one, BadRow):
            refused.append(one)
        else:
            rows.append(one)
    return Preview(tuple(rows[:SHOWN]), tuple(refused[:SHOWN]), len(rows), len(refused), unused, ends)


def _checked(row: Row, event_type: EventType) -> PreviewedRow | BadRow:
    """As the replay and the engine take it."""
    values: dict[str, str | int | None] = {}
    reasons: list[str] = []
    for field in event_type.fields:
        try:
            values[field.name] = checked(given(row.data, field), field)
        except ValueError as error:
            reasons.append(f"{field.name}: {error}")
    return BadRow(row.line, "; ".join(reasons)) if reasons else PreviewedRow(row.line, values)
