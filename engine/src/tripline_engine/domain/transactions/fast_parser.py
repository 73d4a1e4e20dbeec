"""Usual records into columns, a slice at a time: what an event type declares, read from the bytes without objects.

It is sure of a record or leaves it to `strict_reading`, which decides; it never refuses one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_engine.domain.memory.kernel import kernel, read_only
from tripline_engine.domain.transactions.columns import DECIMAL
from tripline_engine.domain.transactions.json_template import Layout, match_template, record_template
from tripline_engine.domain.transactions.json_tokens import (
    END,
    FRACTION,
    KIND,
    MAX_OPEN,
    NULL,
    START,
    TOKEN,
    UNSEEN,
    WHOLE,
    is_text,
    scan,
)

MAX_VALUE_BYTES: Final = 65_536

_STRING, _TIMESTAMP, _DECIMAL, _ENUM = range(4)
_KINDS: Final = {"string": _STRING, "timestamp": _TIMESTAMP, "decimal": _DECIMAL, "enum": _ENUM}
_TIME_DIGITS: Final = len(str(MAX_TIMESTAMP))
_WHOLE_DIGITS, _PLACES = 18, 6
_U, _SCALE = np.uint64, 10**_PLACES
_MINUS, _POINT, _ZERO, _NINE, _ASCII_END = 0x2D, 0x2E, 0x30, 0x39, 0x80
_ABSENT: Final = -1


class Named(NamedTuple):
    """Texts one behind the other (uint8); text i ends where ``ends[i + 1]`` (int64) says."""

    data: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    @staticmethod
    def of(texts: list[str]) -> Named:
        """These texts."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, encoded)])
        return Named(np.frombuffer(b"".join(encoded), np.uint8), ends.astype(np.int64))


class Fields(NamedTuple):
    """What the fields are: per field its kind, its longest text, whether it is required (int64), and where its names
    and its allowed values begin (int64, one more than fields)."""

    kinds: npt.NDArray[np.int64]
    longest: npt.NDArray[np.int64]
    required: npt.NDArray[np.int64]
    first_name: npt.NDArray[np.int64]
    first_allowed: npt.NDArray[np.int64]


class Found(NamedTuple):
    """What was found, fields × records: where a text begins and ends, or a number (int64, uint64 for low words).

    ``starts`` is -1 where there is no value, and 0 where there is a number.
    """

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.int64]

    def take(self, rows: npt.NDArray[np.int64]) -> Found:
        """Of these records; fields stay in one piece each, as kernels expect them."""
        return Found(
            self.starts.take(rows, axis=1),
            self.ends.take(rows, axis=1),
            self.low.take(rows, axis=1),
            self.high.take(rows, axis=1),
        )


class _Room(NamedTuple):
    """What reading needs beside: what is open, the tokens of a record, and how records are laid out."""

    stack: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int64]
    layout: Layout

    @staticmethod
    def of(names: int) -> _Room:
        return _Room(np.empty(MAX_OPEN, np.uint8), np.zeros((names, TOKEN), np.int64), Layout.of(names))


@kernel()
def _characters(data: Any, start: int, end: int) -> int:
    count = 0
    for at in range(start, end):
        # the bytes that continue a character are 10xxxxxx
        count += (data[at] & 0xC0) != 0x80
    return count


@kernel()
def _decimal(data: Any, at: int, end: int) -> Any:
    """A plain decimal, scaled by 10⁶ into two words; whether it is one."""
    negative = at < end and data[at] == _MINUS
    at += negative
    whole, digits = _U(0), 0
    while at < end and _ZERO <= data[at] <= _NINE and digits <= _WHOLE_DIGITS:
        whole = whole * _U(10) + _U(data[at] - _ZERO)
        at, digits = at + 1, digits + 1
    if digits == 0 or digits > _WHOLE_DIGITS:
        return False, _U(0), np.int64(0)
    part, places = _U(0), 0
    if at < end and data[at] == _POINT:
        at += 1
        while at < end and _ZERO <= data[at] <= _NINE and places <= _PLACES:
            part = part * _U(10) + _U(data[at] - _ZERO)
            at, places = at + 1, places + 1
        if places == 0 or places > _PLACES:
            return False, _U(0), np.int64(0)
    if at != end:
        return False, _U(0), np.int64(0)
    for _ in range(_PLACES - places):
        part *= _U(10)
    # whole is below 2⁶⁰: its halves times the scale fit into a word each
    lower = (whole & _U(0xFFFFFFFF)) * _U(_SCALE) + part
    upper = (whole >> _U(32)) * _U(_SCALE)
    low = lower + (upper << _U(32))
    high = np.int64((upper >> _U(32)) + _U(low < lower))
    if negative:
        low = ~low + _U(1)
        high = ~high + np.int64(low == _U(0))
    return True, low, high


@kernel()
def _whole_number(data: Any, start: int, end: int) -> Any:
    number = np.int64(0)
    for at in range(start, end):
        number = number * 10 + np.int64(data[at] - _ZERO)
    return number


@kernel()
def _is_allowed(data: Any, start: int, end: int, allowed: Any, first: int, last: int) -> bool:
    for value in range(first, last):
        # with the quote that ends it
        if is_text(data, start, end + 1, allowed.data, allowed.ends[value], allowed.ends[value + 1]):
            return True
    return False


@kernel(inline="always")
def _take(data: Any, tokens: Any, name: int, kind: int, longest: int, f: int, i: int, found: Any) -> bool:
    """Note a token as the value of field f in record i; whether it is surely one. Enums are checked elsewhere."""
    start, end, what = tokens[name, START], tokens[name, END], tokens[name, KIND]
    if kind == _TIMESTAMP:
        if what != WHOLE or data[start] == _MINUS or end - start > _TIME_DIGITS:
            return False
        found.starts[f, i], found.high[f, i] = 0, _whole_number(data, start, end)
        return bool(found.high[f, i] <= MAX_TIMESTAMP)
    if kind == _DECIMAL:
        sure, low, high = _decimal(data, start, end)
        found.starts[f, i], found.low[f, i], found.high[f, i] = 0, low, high
        return bool(sure)
    if what == FRACTION or (what == WHOLE and (kind == _ENUM or data[start] == _MINUS)):
        return False
    if start == end and kind == _STRING:
        return True
    found.starts[f, i], found.ends[f, i] = start, end
    return bool(end - start <= longest or _characters(data, start, end) <= longest)


@kernel(inline="always")
def _field(data: Any, f: int, i: int, fields: Any, tokens: Any, allowed: Any, found: Any) -> bool:
    """Note what record i has as field f; whether that is sure."""
    found.starts[f, i] = _ABSENT
    told = 0
    for name in range(fields.first_name[f], fields.first_name[f + 1]):
        if tokens[name, KIND] == UNSEEN or tokens[name, KIND] == NULL:
            continue
        told += 1
        # a value under two names may be one or two: the strict reader knows
        if told > 1 or not _take(data, tokens, name, fields.kinds[f], fields.longest[f], f, i, found):
            return False
    if found.starts[f, i] == _ABSENT:
        return not fields.required[f]
    if fields.kinds[f] != _ENUM:
        return True
    first, last = fields.first_allowed[f], fields.first_allowed[f + 1]
    return _is_allowed(data, found.starts[f, i], found.ends[f, i], allowed, first, last)


@kernel()
def _read(
    data: Any,
    offsets: Any,
    fields: Any,
    names: Any,
    allowed: Any,
    room: Any,
    found: Any,
    sure: Any,
    wide: Any,
) -> None:
    layout, tokens = room.layout, room.tokens
    for i in range(len(sure)):
        start, end = offsets[i], offsets[i + 1]
        sure[i] = sure[i] and end - start <= MAX_VALUE_BYTES
        if not sure[i]:
            continue
        if not match_template(data, start, end, layout, tokens):
            sure[i] = scan(data, start, end, names.data, names.ends, room.stack, tokens)
            if not sure[i]:
                layout.known[0] = 0
                continue
            record_template(data, start, end, tokens, layout)
        for f in range(len(fields.kinds)):
            if not _field(data, f, i, fields, tokens, allowed, found):
                sure[i] = False
                break
        widest = np.uint8(0)
        for byte in data[start:end]:
            widest |= byte
        wide[i] = widest >= _ASCII_END


@kernel()
def _copy(data: Any, starts: Any, ends: Any, offsets: Any, out: Any) -> None:
    for i in range(len(starts)):
        at = offsets[i]
        for place in range(starts[i], ends[i]):
            out[at] = data[place]
            at += 1


@dataclass(frozen=True, slots=True)
class ParsedRecords:
    """The records that were read: their places in the slice (int64, ascending), and a column for each field."""

    rows: npt.NDArray[np.int64]
    columns: list[pa.Array]


class FastParser:
    """Reads slices of records of one event type. Cheap to use, not to make: keep one per task."""

    def __init__(self, event_type: EventType) -> None:
        fields = event_type.fields
        self._kinds = [_KINDS[field.kind] for field in fields]
        self._names = Named.of([name for field in fields for name in field.names])
        self._allowed = Named.of([value for field in fields for value in field.values])
        longest = [field.max_length or MAX_VALUE_BYTES for field in fields]
        required = [int(field.required) for field in fields]
        first_name = np.cumsum([0, *(len(field.names) for field in fields)])
        first_allowed = np.cumsum([0, *(len(field.values) for field in fields)])
        described = (self._kinds, longest, required, first_name, first_allowed)
        self._fields = Fields(*(np.array(column, np.int64) for column in described))

    def read(self, values: pa.Array) -> ParsedRecords:
        """Those of the records (binary, null for none) that are usual ones."""
        data, offsets, sure = _laid_out(values)
        shape, wide = (len(self._kinds), len(values)), np.zeros(len(values), np.bool_)
        found = Found(
            np.empty(shape, np.int64),
            np.empty(shape, np.int64),
            # where a field is null these are its value, and what crosses the shuffle is the same each time
            np.zeros(shape, np.uint64),
            np.zeros(shape, np.int64),
        )
        # as each slice begins without a layout, what is read of it depends on nothing else
        room = _Room.of(len(self._names.ends) - 1)
        _read(data, offsets, self._fields, self._names, self._allowed, room, found, sure, wide)
        for row in np.flatnonzero(sure & wide).tolist():
            sure[row] = _is_utf8(data[offsets[row] : offsets[row + 1]])
        rows = np.flatnonzero(sure)
        if len(rows) < len(values):
            found = found.take(rows)
        return ParsedRecords(rows, [_column(kind, data, found, f) for f, kind in enumerate(self._kinds)])


def _laid_out(
    values: pa.Array,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Bytes, offsets (one more than records), and which records there are."""
    present = np.ones(len(values), np.bool_) if values.null_count == 0 else np.array(values.is_valid())
    _, offsets, data = values.buffers()
    if offsets is None or data is None or not len(values):
        return read_only(np.empty(0, np.uint8)), read_only(np.zeros(len(values) + 1, np.int32)), present
    places = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    return read_only(np.frombuffer(data, np.uint8)), read_only(places), present


def _is_utf8(data: npt.NDArray[np.uint8]) -> bool:
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _column(kind: int, data: npt.NDArray[np.uint8], found: Found, f: int) -> pa.Array:
    present = found.starts[f] != _ABSENT
    if kind == _TIMESTAMP:
        return pa.array(found.high[f], pa.int64(), mask=None if present.all() else ~present)
    valid = None if present.all() else pa.array(present).buffers()[1]
    count = len(present)
    if kind == _DECIMAL:
        words = np.empty(2 * count, np.uint64)
        words[::2], words[1::2] = found.low[f], found.high[f].view(np.uint64)
        return pa.Array.from_buffers(DECIMAL, count, [valid, pa.py_buffer(words)])
    starts, ends = found.starts[f], np.where(present, found.ends[f], _ABSENT)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(ends - starts, out=offsets[1:])
    texts = np.empty(offsets[-1], np.uint8)
    _copy(data, starts, ends, offsets, texts)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(texts), valid)
