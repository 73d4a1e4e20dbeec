"""Raw record values into columns, a slice at a time; what can't be read becomes a reject with its reason.

Two readers share the work. Usual records go through a decoder made from the event type and are checked column by
column. Any record that this quick reader stumbles over, or that holds something it isn't sure of (a backslash, an
alias beside its name, a decimal with an exponent), goes to `strict_reading` alone, which decides. So one bad record
never touches its neighbours, and the quick reader only has to be right about what it accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import MAX_TIMESTAMP, EventType, Field
from tripline_engine.domain.strict_reading import MAX_DEPTH, Value, read_record
from tripline_engine.errors import Unparseable

MAX_VALUE_BYTES: Final = 65_536
OVERSIZED: Final = "oversized"
UNPARSEABLE: Final = "unparseable"
DECIMAL: Final = pa.decimal128(24, 6)

_QUICK_DECIMAL: Final = r'^(?:-?[0-9]{1,18}(?:\.[0-9]{1,6})?|"-?[0-9]{1,18}(?:\.[0-9]{1,6})?")$'


@dataclass(frozen=True, slots=True)
class Reject:
    """Record `row` of the slice is refused; `detail` is a sentence naming the field and what was expected."""

    row: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """`columns` hold one value for each of `rows` (int64, ascending positions in the slice), by canonical name.

    Arrow types: see `column_type`. Every record of the slice is either in `rows` or among `rejects`.
    """

    rows: np.ndarray[Any, np.dtype[np.int64]]
    columns: dict[str, pa.Array]
    rejects: tuple[Reject, ...]


def column_type(field: Field) -> pa.DataType:
    """string for strings and enums, int64 ms for timestamps, decimal128(24, 6) for decimals."""
    return {"timestamp": pa.int64(), "decimal": DECIMAL}.get(field.kind, pa.string())


class Parser:
    """Reads slices of records of one event type. Cheap to use, not to make: keep one per task."""

    def __init__(self, event_type: EventType) -> None:
        self._event_type = event_type
        self._decode, self._attributes = _quick_decoder(event_type)

    def parse(self, values: Sequence[bytes | None]) -> Parsed:
        """Never raises because of what a record holds. None is a record without a value."""
        quick, doubtful = self._decode_all(values)
        columns = [
            self._quick_column(field, [record for _, record in quick]) for field in self._event_type.fields
        ]
        sure = np.ones(len(quick), np.bool_)
        for column in columns:
            sure &= column.sure
        rows = np.fromiter((row for row, _ in quick), np.int64, len(quick))
        doubtful.extend(rows[~sure].tolist())
        kept = pa.array(sure)
        arrays = [column.values.filter(kept) if not sure.all() else column.values for column in columns]
        return self._with_strict(values, rows[sure], arrays, sorted(doubtful))

    def _decode_all(self, values: Sequence[bytes | None]) -> tuple[list[tuple[int, Any]], list[int]]:
        quick: list[tuple[int, Any]] = []
        doubtful: list[int] = []
        decode, accept = self._decode, quick.append
        for row, value in enumerate(values):
            if value is None or b"\\" in value or len(value) > MAX_VALUE_BYTES or _may_nest_deeply(value):
                doubtful.append(row)
                continue
            try:
                accept((row, decode(value.decode())))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                doubtful.append(row)
        return quick, doubtful

    def _quick_column(self, field: Field, records: list[Any]) -> _Column:
        name, *aliases = self._attributes[field.name]
        found = [getattr(record, name) for record in records]
        sure = np.ones(len(found), np.bool_)
        for alias in aliases:
            for i, record in enumerate(records):
                other = getattr(record, alias)
                if other is not None:
                    sure[i] = found[i] is None
                    found[i] = other
        column = _COLUMNS[field.kind](field, found)
        sure &= column.sure
        if field.required:
            sure &= column.values.is_valid().to_numpy(zero_copy_only=False)
        return _Column(column.values, sure)

    def _with_strict(
        self,
        values: Sequence[bytes | None],
        rows: np.ndarray[Any, np.dtype[np.int64]],
        arrays: list[pa.Array],
        doubtful: Sequence[int],
    ) -> Parsed:
        names = [field.name for field in self._event_type.fields]
        rejects: list[Reject] = []
        accepted: list[tuple[int, tuple[Value, ...]]] = []
        for row in doubtful:
            read = self._read_strictly(row, values[row])
            if isinstance(read, Reject):
                rejects.append(read)
            else:
                accepted.append((row, read))
        if accepted:
            rows = np.concatenate([rows, np.array([row for row, _ in accepted], np.int64)])
            order = np.argsort(rows, kind="stable")
            rows = rows[order]
            strict = [
                _strict_array(field, [read[i] for _, read in accepted])
                for i, field in enumerate(self._event_type.fields)
            ]
            arrays = [pa.concat_arrays(pair).take(order) for pair in zip(arrays, strict, strict=True)]
        return Parsed(rows, dict(zip(names, arrays, strict=True)), tuple(rejects))

    def _read_strictly(self, row: int, value: bytes | None) -> tuple[Value, ...] | Reject:
        if value is None:
            return Reject(row, UNPARSEABLE, "value: expected one JSON object, found a record without a value")
        if len(value) > MAX_VALUE_BYTES:
            return Reject(
                row, OVERSIZED, f"value: expected at most {MAX_VALUE_BYTES} bytes, found {len(value)}"
            )
        try:
            return read_record(self._event_type, value)
        except Unparseable as error:
            return Reject(row, UNPARSEABLE, str(error))


@dataclass(frozen=True, slots=True)
class _Column:
    """Values of one field as the quick reader has them, and where it is sure of them."""

    values: pa.Array
    sure: np.ndarray[Any, np.dtype[np.bool_]]


def _may_nest_deeply(value: bytes) -> bool:
    return value.count(b"[") > MAX_DEPTH // 2 or value.count(b"{") > MAX_DEPTH // 2


def _quick_decoder(event_type: EventType) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """A decoder of JSON text into structs, and per field the struct's attributes: the name's, then the aliases'."""
    types: dict[str, Any] = {
        # with float in the union 1.0 and 1e3 come as floats and are told apart from integers; none is kept
        "string": int | float | str | None,
        "timestamp": int | float | None,
        "decimal": msgspec.Raw,
        "enum": str | None,
    }
    attributes: dict[str, tuple[str, ...]] = {}
    fields: list[tuple[str, Any, Any]] = []
    rename: dict[str, str] = {}
    for field in event_type.fields:
        own = tuple(f"f{len(fields) + i}" for i in range(len(field.names)))
        attributes[field.name] = own
        rename.update(zip(own, field.names, strict=True))
        fields.extend((attribute, types[field.kind], None) for attribute in own)
    struct = msgspec.defstruct("QuickRecord", fields, rename=rename, gc=False)
    return msgspec.json.Decoder(struct).decode, attributes


def _string_column(field: Field, found: list[Any]) -> _Column:
    texts = [value if type(value) is str else str(value) if type(value) is int else None for value in found]
    array = pa.array(texts, pa.string())
    sure = pc.fill_null(pc.less_equal(pc.utf8_length(array), field.max_length or MAX_VALUE_BYTES), True)
    array = pc.if_else(pc.equal(pc.binary_length(array), 0), pa.scalar(None, pa.string()), array)
    no_float = np.fromiter((type(value) is not float for value in found), np.bool_, len(found))
    return _Column(array, sure.to_numpy(zero_copy_only=False) & no_float)


def _timestamp_column(_: Field, found: list[Any]) -> _Column:
    sure = np.fromiter(
        (value is None or (type(value) is int and 0 <= value <= MAX_TIMESTAMP) for value in found),
        np.bool_,
        len(found),
    )
    if not sure.all():
        found = [value if good else None for value, good in zip(found, sure.tolist(), strict=True)]
    return _Column(pa.array(found, pa.int64()), sure)


def _decimal_column(_: Field, found: list[Any]) -> _Column:
    texts = pa.array([None if value is None else bytes(value) for value in found], pa.binary()).cast(
        pa.string()
    )
    matches = pc.match_substring_regex(texts, _QUICK_DECIMAL)
    absent = pc.fill_null(pc.equal(texts, "null"), True)
    plain = pc.if_else(pc.fill_null(matches, False), pc.utf8_trim(texts, '"'), pa.scalar(None, pa.string()))
    sure = pc.or_(pc.fill_null(matches, False), absent)
    return _Column(plain.cast(DECIMAL), sure.to_numpy(zero_copy_only=False))


def _enum_column(field: Field, found: list[Any]) -> _Column:
    allowed = {None, *field.values}
    sure = np.fromiter((value in allowed for value in found), np.bool_, len(found))
    return _Column(pa.array(found, pa.string()), sure)


_COLUMNS: Final = {
    "string": _string_column,
    "timestamp": _timestamp_column,
    "decimal": _decimal_column,
    "enum": _enum_column,
}


def _strict_array(field: Field, values: list[Value]) -> pa.Array:
    if field.kind != "decimal":
        return pa.array(values, column_type(field))
    words = [None if value is None else int(value).to_bytes(16, "little", signed=True) for value in values]
    raw = pa.array(words, pa.binary(16))
    return pa.Array.from_buffers(DECIMAL, len(raw), raw.buffers())
