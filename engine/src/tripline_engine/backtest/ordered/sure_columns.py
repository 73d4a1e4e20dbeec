"""Columns of Parquet as columns of transactions: values that are surely what the reader of rows makes of them.

It is sure of a value or leaves its row to that reader, which decides; it never refuses one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import MAX_TIMESTAMP, TEXT_KINDS, EventType, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_contracts.recordings.file_mapping import Columns, Constant, Count, FieldMapping, FileMapping
from tripline_engine.domain.memory.array_types import BoolArray, Int64Array
from tripline_engine.domain.transactions.columns import DECIMAL, text_bounds
from tripline_engine.domain.transactions.parser import column_type

_SCALE: Final = 10**6
_MOST_WHOLE: Final = 10**12
"""Integers below it are in 64 bits when they are scaled."""
_FIRST_SHOWN, _LAST_SHOWN = 0x21, 0x7E
"""ASCII that nobody strips from the ends of a text."""

Sure = tuple[pa.Array, BoolArray]
"""Values in the type that the engine's parser gives them, and of which of them it is sure."""


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """How a field comes about.

    :ivar column: None: it is null in every row, or `constant`
    :ivar unit_ms: of times that are integers; None: they are left to the reader of rows
    :ivar is_utc: times without a zone are of UTC; else they are left, too
    :ivar stripped: texts are taken without the blanks around them
    :ivar nulls: texts that are left, because they stand for no value
    :ivar values: what texts are translated into; others are left
    """

    field: Field
    column: str | None = None
    constant: str | None = None
    unit_ms: int | None = 1
    since: int = 0
    is_utc: bool = False
    stripped: bool = False
    nulls: frozenset[str] = frozenset()
    values: Mapping[str, str] | None = None

    def of(self, batch: pa.RecordBatch) -> Sure:
        """The field's values in the batch."""
        if self.column is not None:
            values, sure = self._read(_unfolded(batch.column(self.column)))
        else:
            constant = pa.scalar(self.constant, column_type(self.field))
            values, sure = pa.repeat(constant, batch.num_rows), np.ones(batch.num_rows, np.bool_)
        return values, sure & np.array(values.is_valid()) if self.field.required else sure

    def _read(self, cells: pa.Array) -> Sure:
        try:
            match self.field.kind:
                case "timestamp":
                    return self._times(cells)
                case "decimal":
                    return _amounts(cells)
                case _:
                    return self._texts(cells)
        except pa.ArrowInvalid:
            # what does not fit, or is no UTF-8
            return self._left(cells)

    def _left(self, cells: pa.Array) -> Sure:
        return pa.nulls(len(cells), column_type(self.field)), np.array(cells.is_null())

    def _times(self, cells: pa.Array) -> Sure:
        unit = self.unit_ms
        if pa.types.is_timestamp(cells.type) and (cells.type.tz is not None or self.is_utc):
            times = cells.cast(pa.timestamp("ms", cells.type.tz), safe=False).cast(pa.int64())
            return times, _within(times, 0, MAX_TIMESTAMP)
        if pa.types.is_integer(cells.type) and unit is not None:
            counts = cells.cast(pa.int64())
            sure = _within(counts, 0, MAX_TIMESTAMP // unit)
            times = pa.array(
                np.where(sure, _plain(counts), 0) * unit + self.since, mask=np.array(counts.is_null())
            )
            return times, sure & _within(times, 0, MAX_TIMESTAMP)
        return self._left(cells)

    def _texts(self, cells: pa.Array) -> Sure:
        # without a mapping an integer is as one of JSON, which is an id and nothing else
        is_whole = pa.types.is_integer(cells.type) and (self.stripped or self.field.kind == "string")
        if not (is_whole or _is_text(cells.type)):
            return self._left(cells)
        texts = cells.cast(pa.string())
        texts.validate(full=True)
        if not np.diff(text_bounds(texts)).all():
            texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
        sure = self._is_plain(texts)
        if self.values is not None:
            texts = _translated(texts, self.values)
            sure &= np.array(texts.is_valid()) | np.array(cells.is_null())
        if self.field.kind == "string":
            return texts, sure & self._is_short(texts)
        known = _known(self.field, texts)
        normal = _translated(texts, known)
        return normal, sure & (np.array(normal.is_valid()) | np.array(texts.is_null()))

    def _is_plain(self, texts: pa.Array) -> BoolArray:
        """Where the text is what stands there, and no sign for something else."""
        sure = np.ones(len(texts), np.bool_)
        bounds = text_bounds(texts)
        letters = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[bounds[0] : bounds[-1]]
        if not letters.all():
            sure &= ~_filled(pc.match_substring(texts, "\0"))
        if self.stripped and len(letters):
            begun, ended = bounds[:-1] - bounds[0], bounds[1:] - bounds[0]
            first, last = letters[np.minimum(begun, len(letters) - 1)], letters[np.maximum(ended - 1, 0)]
            shown = (
                (first >= _FIRST_SHOWN)
                & (first <= _LAST_SHOWN)
                & (last >= _FIRST_SHOWN)
                & (last <= _LAST_SHOWN)
            )
            sure &= shown | (begun == ended)
        if self.nulls:
            sure &= ~_filled(pc.is_in(texts, pa.array(sorted(self.nulls))))
        return sure

    def _is_short(self, texts: pa.Array) -> BoolArray:
        longest = int(np.diff(text_bounds(texts)).max(initial=0))
        # a letter has a byte at least
        if self.field.max_length is None or longest <= self.field.max_length:
            return np.ones(len(texts), np.bool_)
        return ~_filled(pc.greater(pc.utf8_length(texts), self.field.max_length))


def field_columns(
    event_type: EventType, columns: Mapping[str, str], mapping: FileMapping | None
) -> list[FieldColumn] | None:
    """How each field comes about; None where a mapping says something that only the reader of rows can do.

    :param columns: the columns that are read, each with the name under which its cells are read
    """
    if mapping is None:
        by_name = {name: column for column, name in columns.items()}
        return [FieldColumn(field, by_name.get(field.name)) for field in event_type.fields]
    made = [_mapped(field, mapping.fields.get(field.name), mapping) for field in event_type.fields]
    sure = [one for one in made if one is not None]
    return sure if len(sure) == len(made) else None


def _mapped(field: Field, mapped: FieldMapping | None, mapping: FileMapping) -> FieldColumn | None:
    if mapped is None:
        return FieldColumn(field)
    match mapped.source:
        case Constant(text) if field.kind in ("string", "enum") and len(text) <= (
            field.max_length or len(text)
        ):
            return FieldColumn(field, constant=text)
        case Columns((column,)) if mapped.values is None or field.kind in TEXT_KINDS:
            form = mapped.form or mapping.time_form
            return FieldColumn(
                field,
                column,
                unit_ms=form.unit_ms if isinstance(form, Count) else None,
                since=form.since if isinstance(form, Count) else 0,
                is_utc=mapping.time_zone is not None and mapping.time_zone.key in ("UTC", "Etc/UTC"),
                stripped=True,
                nulls=mapping.nulls,
                values=mapped.values,
            )
        case _:
            return None


def _amounts(cells: pa.Array) -> Sure:
    if pa.types.is_decimal(cells.type):
        # refused where it would round, or does not fit
        return cells.cast(DECIMAL), np.ones(len(cells), np.bool_)
    if pa.types.is_integer(cells.type):
        whole = cells.cast(pa.int64())
        sure = _within(whole, 1 - _MOST_WHOLE, _MOST_WHOLE - 1)
        words = np.empty((len(whole), 2), np.int64)
        words[:, 0] = np.where(sure, _plain(whole), 0) * _SCALE
        words[:, 1] = words[:, 0] >> 63
        valid = pa.array(np.array(whole.is_valid())).buffers()[1]
        return pa.Array.from_buffers(DECIMAL, len(whole), [valid, pa.py_buffer(words)]), sure
    return pa.nulls(len(cells), DECIMAL), np.array(cells.is_null())


def _known(field: Field, texts: pa.Array) -> Mapping[str, str]:
    """Values of an enum as they are, others of the kind in their normal form."""
    if field.kind == "enum":
        return {value: value for value in field.values}
    normal = NORMAL_TEXTS[field.kind].normal
    different = (text for text in texts.unique().to_pylist() if text is not None)
    return {text: form for text in different if (form := normal(text)) is not None}


def _translated(texts: pa.Array, values: Mapping[str, str]) -> pa.Array:
    """Each text's value; null where there is none."""
    encoded = texts.dictionary_encode()
    meant = pa.array(
        [None if text is None else values.get(text) for text in encoded.dictionary.to_pylist()], pa.string()
    )
    return meant.take(encoded.indices)


def _within(numbers: pa.Array, least: int, most: int) -> BoolArray:
    """Where a number (int64) is within these bounds, or null."""
    plain = _plain(numbers)
    if not numbers.null_count and least <= plain.min(initial=least) and plain.max(initial=most) <= most:
        return np.ones(len(numbers), np.bool_)
    within: BoolArray = ((plain >= least) & (plain <= most)) | np.array(numbers.is_null())
    return within


def _plain(numbers: pa.Array) -> Int64Array:
    if not numbers.null_count:
        return np.asarray(numbers)
    return np.array(numbers.fill_null(0), np.int64)


def _filled(tests: pa.Array) -> BoolArray:
    return np.array(tests.fill_null(False))  # Arrow's signature


def _unfolded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
