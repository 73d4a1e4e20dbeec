"""A mapping proposed from a file's first rows: what is certain is said, what is not is left open with a comment.

A proposal with something open is refused by the reader of mappings, with the name of what is open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import IO, Any, Final

import yaml

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.recordings.amounts import NumberStyle
from tripline_contracts.recordings.guesses import TIME_OF_DAY, TimeGuess, style_guess, time_guess
from tripline_contracts.recordings.recording import ParquetReader
from tripline_contracts.recordings.sample import Sample, sample_of

_MOST_VALUES: Final = 20


def propose(file: IO[bytes], event_type: EventType, parquet: ParquetReader | None = None) -> str:
    """The text of a mapping file. Raises UnreadableFile."""
    known = [name for field in event_type.fields for name in _names_of(field, event_type)]
    sample = sample_of(file, event_type, known, parquet)
    return "".join(f"{line}\n" for line in _Proposal(sample, event_type).lines())


@dataclass(frozen=True, slots=True)
class _Time:
    columns: tuple[str, ...]
    guess: TimeGuess


class _Proposal:
    def __init__(self, sample: Sample, event_type: EventType) -> None:
        self._sample, self._event_type = sample, event_type
        self._columns = _assigned(sample, event_type)
        self._times = {
            field.name: self._time(self._columns[field.name])
            for field in event_type.fields
            if field.kind == "timestamp" and field.name in self._columns
        }

    def lines(self) -> Iterator[str]:
        read = {name for time in self._times.values() for name in time.columns} | set(self._columns.values())
        rows = len(self._sample.rows)
        yield f"# Proposed from the first {rows} rows of a {self._sample.format} file; look at it before you use it."
        unused = [name for name in self._sample.names if name not in read]
        if unused:
            yield f"# Not read: {', '.join(' '.join(name.split())[:60] for name in unused[:40])}"
        if not self._sample.is_utf_8:
            yield "encoding: latin-1  # it is no UTF-8; windows-1252 may be meant"
        if any(time.guess.needs_zone for time in self._times.values()):
            yield "timeZone:  # open: the times name no zone, say which clock they are of, as UTC or Europe/Berlin"
        yield from self._style()
        yield "fields:"
        for field in self._event_type.fields:
            yield from self._field(field)

    def _time(self, column: str) -> _Time:
        """The column's own form, or with the column of times of day that stands beside a column of days."""
        values = self._sample.values(column)
        guess = time_guess(values)
        if all(isinstance(value, str) and len(value) <= 11 for value in values):
            for name in self._sample.names:
                clocks = self._sample.values(name)
                if len(clocks) == len(values) > 0 and all(
                    TIME_OF_DAY.fullmatch(str(clock)) for clock in clocks
                ):
                    joined = time_guess([f"{day} {clock}" for day, clock in zip(values, clocks, strict=True)])
                    if joined.forms:
                        return _Time((column, name), joined)
        return _Time((column,), guess)

    def _style(self) -> Iterator[str]:
        columns = [
            self._columns[field.name]
            for field in self._event_type.fields
            if field.kind == "decimal" and field.name in self._columns
        ]
        values = [value for column in columns for value in self._sample.values(column)]
        styles = style_guess(values).styles
        if len(styles) == 1:
            yield from _said(styles[0])
        elif styles:
            example = next((str(value) for value in values if re.search("[.,']", str(value))), str(values[0]))
            meanings = " or ".join(_meant(style, example) for style in styles)
            yield f"decimalComma:  # open: {_text(example)} may be {meanings}"
        elif values:
            yield f"# The amounts are not numbers, as {_text(str(values[0])[:40])}"

    def _field(self, field: Field) -> Iterator[str]:
        column = self._columns.get(field.name)
        if column is None:
            if field.role == "id":
                yield f'  {field.name}: {{rowNumber: "row-"}}  # no column looks like an id'
            elif field.required:
                yield f"  {field.name}: {{column: }}  # open: no column looks like it"
        elif field.name in self._times:
            yield self._time_line(field, self._times[field.name])
        elif field.kind == "enum":
            yield from self._enum(field, column)
        else:
            yield f"  {field.name}: {_text(column)}"

    def _time_line(self, field: Field, time: _Time) -> str:
        forms = time.guess.forms
        source = (
            f"column: {_text(time.columns[0])}"
            if len(time.columns) == 1
            else f"columns: [{', '.join(map(_text, time.columns))}]"
        )
        if len(forms) == 1:
            return f"  {field.name}: {{{source}, form: {_text(forms[0])}}}"
        values = self._sample.values(time.columns[0])
        why = " or ".join(forms) if forms else "as a pattern of strptime, or {unit, since} for a count"
        example = _text(str(values[0])[:40]) if values else "nothing"
        return f"  {field.name}: {{{source}, form: }}  # open: {example}, {why}"

    def _enum(self, field: Field, column: str) -> Iterator[str]:
        values = sorted({str(value) for value in self._sample.values(column)})
        if all(value in field.values for value in values):
            yield f"  {field.name}: {_text(column)}"
            return
        yield f"  {field.name}:"
        yield f"    column: {_text(column)}"
        yield f"    values:  # open: what each means, of {', '.join(field.values)}"
        for value in values[:_MOST_VALUES]:
            same = next((known for known in field.values if known.casefold() == value.casefold()), "")
            yield f"      {_text(value)}: {same}".rstrip()


def _assigned(sample: Sample, event_type: EventType) -> dict[str, str]:
    """A column for each field, none twice; names that say more come before others, whichever field they are of."""
    columns = {_folded(name): name for name in reversed(sample.names)}
    assigned: dict[str, str] = {}
    wishes = [
        (rank, number, field.name, name)
        for number, field in enumerate(event_type.fields)
        for rank, name in enumerate(_names_of(field, event_type))
    ]
    for _, _, field_name, name in sorted(wishes):
        column = columns.get(_folded(name))
        if column is not None and field_name not in assigned and column not in assigned.values():
            assigned[field_name] = column
    return assigned


def _names_of(field: Field, event_type: EventType) -> list[str]:
    """What a column of the field may be called, the likeliest first."""
    synonyms = _synonyms()
    of_type = synonyms["types"].get(event_type.name, {}).get(field.name, [])
    of_role = [] if field.ingestion else synonyms["roles"].get(field.role, [])
    return [*field.names, *([field.label] if field.label else []), *of_type, *of_role]


@cache
def _synonyms() -> dict[str, Any]:
    text = (
        resources.files("tripline_contracts.recordings").joinpath("synonyms.yaml").read_text(encoding="utf-8")
    )
    synonyms: dict[str, Any] = yaml.safe_load(text)
    return synonyms


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _text(text: str) -> str:
    """As YAML has it in double quotes, on one line."""
    return json.dumps(text, ensure_ascii=False)


def _said(style: NumberStyle) -> Iterator[str]:
    if style.decimal_comma:
        yield "decimalComma: true"
    if style.thousands is not None:
        yield f"thousands: {_text(style.thousands)}"
    if style.shortest_floats:
        yield "floats: shortest  # the amounts are binary numbers"


def _meant(style: NumberStyle, example: str) -> str:
    said = " and ".join(line.split("  #")[0] for line in _said(style)) or "with a decimal point"
    return f"{style.plain(example)} ({said})"
