"""Rows as fields: by a mapping, or as files of ours have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, Protocol

from tripline_contracts.errors import ContractError, InvalidConstant, InvalidDecimal, InvalidTime
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.recordings.amounts import NumberStyle
from tripline_contracts.recordings.csv_dialect import position_name
from tripline_contracts.recordings.file_mapping import (
    Columns,
    Constant,
    FieldMapping,
    FileMapping,
    Iso,
    Position,
    RowNumber,
)
from tripline_contracts.recordings.rows import BadRow, Cells, Raw, Row
from tripline_contracts.recordings.times import Clock, guessed_by_nobody

_OUR_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", re.ASCII)
_DIGITS: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


class Interpreter(Protocol):
    """Makes rows of what stands in a file."""

    def row(self, raw: Raw) -> Row | BadRow:
        """The fields, or every reason why not."""
        ...


class HouseInterpreter:
    """Without a mapping: the cells have the fields' names, and values as the topic takes them.

    Times of text are `yyyy-MM-dd HH:mm:ss` in UTC, ISO 8601 with a zone, or ms since the epoch.
    """

    def __init__(self, event_type: EventType) -> None:
        self._times = [field for field in event_type.fields if field.kind == "timestamp"]
        self._decimals = [field for field in event_type.fields if field.kind == "decimal"]

    def row(self, raw: Raw) -> Row | BadRow:
        """See Interpreter."""
        data = {name: value for name, value in raw.cells.items() if value != ""}
        reasons: list[str] = []
        for field in (*self._times, *self._decimals):
            for name in field.names:
                value = data.get(name)
                if value is None:
                    continue
                try:
                    data[name] = _our_time(value, field) if field.kind == "timestamp" else _STYLE.plain(value)
                except (InvalidTime, InvalidDecimal) as error:
                    reasons.append(f"{field.name}: {error}")
        return BadRow(raw.line, "; ".join(reasons)) if reasons else Row(raw.line, data)


def _our_time(value: object, field: Field) -> object:
    if isinstance(value, str) and _OUR_TIME.fullmatch(value):
        return Clock(Iso(), UTC).instant(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value) if field.ingestion else guessed_by_nobody(value)
    return Clock(Iso(), None).instant(value) if isinstance(value, (str, datetime)) else value


class MappedInterpreter:
    """By a mapping."""

    def __init__(self, event_type: EventType, mapping: FileMapping) -> None:
        self._mapping = mapping
        self._fields = [
            (field, mapping.fields[field.name]) for field in event_type.fields if field.name in mapping.fields
        ]
        self._style = NumberStyle(mapping.decimal_comma, mapping.thousands, mapping.shortest_floats)
        self._clocks = {
            field.name: Clock(mapped.form or mapping.time_form, mapping.time_zone)
            for field, mapped in self._fields
        }

    def row(self, raw: Raw) -> Row | BadRow:
        """See Interpreter."""
        data: dict[str, object] = {}
        reasons: list[str] = []
        for field, mapped in self._fields:
            try:
                data[field.name] = self._value(raw, field, mapped)
            except ContractError as error:
                reasons.append(f"{field.name}: {error}")
        return BadRow(raw.line, "; ".join(reasons)) if reasons else Row(raw.line, data)

    def _value(self, raw: Raw, field: Field, mapped: FieldMapping) -> object:
        match mapped.source:
            case Constant(text):
                return text
            case RowNumber(prefix):
                return f"{prefix}{raw.line}"
            case Position(number):
                value = self._cell(raw.cells, position_name(number))
            case Columns(names):
                value = self._joined(raw.cells, names)
        if value is None:
            return None
        match field.kind:
            case "timestamp":
                return self._clocks[field.name].instant(value)
            case "decimal":
                return self._style.plain(value)
            case "string" | "enum" | "ip" | "position":
                return _translated(self._text(value), mapped.values)

    def _cell(self, cells: Cells, name: str) -> object:
        """The cell; of JSON also a member of a member, its names parted by points."""
        value = cells.get(name)
        if name not in cells and "." in name:
            inner: object = cells
            for part in name.split("."):
                inner = inner.get(part) if isinstance(inner, Mapping) else None
            value = inner
        if isinstance(value, str):
            value = value.strip()
        return None if value == "" or (isinstance(value, str) and value in self._mapping.nulls) else value

    def _joined(self, cells: Cells, names: tuple[str, ...]) -> object:
        values = [self._cell(cells, name) for name in names]
        if len(values) == 1 or all(value is None for value in values):
            return values[0]
        for name, value in zip(names, values, strict=True):
            if value is None:
                raise InvalidConstant(f"{name!r} is empty, and the others of its columns are not")
        return " ".join(self._text(value) for value in values)

    def _text(self, value: object) -> str:
        if isinstance(value, float) and self._mapping.shortest_floats and value.is_integer():
            return str(int(value))
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
            return str(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, (str, int)):
            raise InvalidConstant(f"expected a text or an integer, not {str(value)[:40]}")
        return str(value)


def _translated(text: str, values: Mapping[str, str] | None) -> str:
    if values is None:
        return text
    if text not in values:
        raise InvalidConstant(f"{text[:64]!r} has no translation; `values` has {', '.join(values)}")
    return values[text]


_STYLE: Final = NumberStyle()
