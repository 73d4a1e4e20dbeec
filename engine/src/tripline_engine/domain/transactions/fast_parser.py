"""The fast parser: common records into columns, a slice at a time, read from the bytes without Python objects.

It is sure of a record or leaves it to `strict_parser`, which decides; it never refuses one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array, Uint8Array
from tripline_engine.domain.memory.kernel import read_only
from tripline_engine.domain.transactions.columns import DECIMAL as DECIMAL_TYPE
from tripline_engine.domain.transactions.json_tokens import PackedTexts
from tripline_engine.domain.transactions.value_kernels import (
    ABSENT,
    DECIMAL,
    ENUM,
    MAX_VALUE_BYTES,
    STRING,
    TIMESTAMP,
    Fields,
    FieldValues,
    Scratch,
    copy_texts,
    read_records,
)

# What has a normal form is read as a text, and brought into it afterwards.
_KINDS: Final = {
    "string": STRING, "timestamp": TIMESTAMP, "decimal": DECIMAL, "enum": ENUM, **dict.fromkeys(NORMAL_TEXTS, STRING)
}  # fmt: skip
_LONGEST: Final = {kind: form.longest for kind, form in NORMAL_TEXTS.items()}


@dataclass(frozen=True, slots=True)
class ParsedRecords:
    """The records that were read: their numbers in the slice (int64, ascending), and a column for each field."""

    rows: Int64Array
    columns: list[pa.Array]


class FastParser:
    """Reads slices of records of one event type. Cheap to use, not to make: keep one per task."""

    def __init__(self, event_type: EventType) -> None:
        fields = event_type.fields
        self._kinds = [_KINDS[field.kind] for field in fields]
        longest = [field.max_length or _LONGEST.get(field.kind, MAX_VALUE_BYTES) for field in fields]
        self._normal = {
            f: NORMAL_TEXTS[field.kind].normal for f, field in enumerate(fields) if field.kind in NORMAL_TEXTS
        }
        required = [int(field.required) for field in fields]
        first_name = np.cumsum([0, *(len(field.names) for field in fields)])
        first_allowed = np.cumsum([0, *(len(field.values) for field in fields)])
        self._fields = Fields(
            kinds=np.array(self._kinds, np.int64),
            longest=np.array(longest, np.int64),
            required=np.array(required, np.int64),
            first_name=first_name.astype(np.int64),
            first_allowed=first_allowed.astype(np.int64),
            names=PackedTexts.of([name for field in fields for name in field.names]),
            allowed=PackedTexts.of([value for field in fields for value in field.values]),
        )

    def read(self, values: pa.Array) -> ParsedRecords:
        """Read those of the records (binary, null for none) that are surely right."""
        data, offsets, sure = _buffers(values)
        shape, wide = (len(self._kinds), len(values)), np.zeros(len(values), np.bool_)
        field_values = FieldValues(
            np.empty(shape, np.int64),
            np.empty(shape, np.int64),
            # zeros stand under nulls, so that the bytes that cross the shuffle are the same each time
            np.zeros(shape, np.uint64),
            np.zeros(shape, np.int64),
        )
        # each slice begins without a template, so its result depends on nothing else
        scratch = Scratch.of(len(self._fields.names.ends) - 1)
        read_records(data, offsets, self._fields, scratch, field_values, sure, wide)
        for row in np.flatnonzero(sure & wide).tolist():
            sure[row] = _is_utf8(data[offsets[row] : offsets[row + 1]])
        rows = np.flatnonzero(sure)
        if len(rows) < len(values):
            field_values = field_values.filter(rows)
        columns = [_column(kind, data, field_values, f) for f, kind in enumerate(self._kinds)]
        return _in_normal_form(ParsedRecords(rows, columns), self._normal)


def _in_normal_form(parsed: ParsedRecords, fields: dict[int, Callable[[str], str | None]]) -> ParsedRecords:
    """The records with these fields' texts in normal form; those with something else there are not sure."""
    columns, right = list(parsed.columns), np.ones(len(parsed.rows), np.bool_)
    for f, normal in fields.items():
        encoded = columns[f].dictionary_encode()
        texts = pa.array([normal(text) for text in encoded.dictionary.to_pylist()], pa.string())
        columns[f] = texts.take(encoded.indices)
        right &= np.array(columns[f].is_valid()) | np.array(encoded.is_null())
    if right.all():
        return ParsedRecords(parsed.rows, columns)
    return ParsedRecords(parsed.rows[right], [column.filter(pa.array(right)) for column in columns])


def _buffers(values: pa.Array) -> tuple[Uint8Array, Int32Array, BoolArray]:
    """Bytes, offsets (one more than records), and whether there is a record."""
    present = np.ones(len(values), np.bool_) if values.null_count == 0 else np.array(values.is_valid())
    _, offsets, data = values.buffers()
    if offsets is None or data is None or not len(values):
        return read_only(np.empty(0, np.uint8)), read_only(np.zeros(len(values) + 1, np.int32)), present
    bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    return read_only(np.frombuffer(data, np.uint8)), read_only(bounds), present


def _is_utf8(data: Uint8Array) -> bool:
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _column(kind: int, data: Uint8Array, values: FieldValues, f: int) -> pa.Array:
    present = values.starts[f] != ABSENT
    if kind == TIMESTAMP:
        return pa.array(values.high[f], pa.int64(), mask=None if present.all() else ~present)
    valid = None if present.all() else pa.array(present).buffers()[1]
    count = len(present)
    if kind == DECIMAL:
        words = np.empty(2 * count, np.uint64)
        words[::2], words[1::2] = values.low[f], values.high[f].view(np.uint64)
        return pa.Array.from_buffers(DECIMAL_TYPE, count, [valid, pa.py_buffer(words)])
    # an absent text is empty: it ends where it starts
    starts, ends = values.starts[f], np.where(present, values.ends[f], ABSENT)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(ends - starts, out=offsets[1:])
    texts = np.empty(offsets[-1], np.uint8)
    copy_texts(data, starts, ends, offsets, texts)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(texts), valid)
