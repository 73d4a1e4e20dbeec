"""The parser: record values into columns, a slice at a time; an unparseable record becomes a reject with its reason.

Two parsers share the work. A compiled pass reads common records from their bytes (`fast_parser`). A record that it is
not sure of (an escape, an alias beside its name, a decimal with an exponent, bad JSON) goes to `strict_parser` alone,
which decides. So one bad record never affects its neighbours, and the fast parser only has to be right about what it
accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType, Field
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.transactions.columns import DECIMAL
from tripline_engine.domain.transactions.fast_parser import FastParser
from tripline_engine.domain.transactions.strict_parser import Value, read_record
from tripline_engine.domain.transactions.value_kernels import MAX_VALUE_BYTES
from tripline_engine.errors import Unparseable

OVERSIZED: Final = "oversized"
UNPARSEABLE: Final = "unparseable"


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

    rows: Int64Array
    columns: dict[str, pa.Array]
    rejects: tuple[Reject, ...]


def column_type(field: Field) -> pa.DataType:
    """string for strings and enums, int64 ms for timestamps, decimal128(24, 6) for decimals."""
    return {"timestamp": pa.int64(), "decimal": DECIMAL}.get(field.kind, pa.string())


class Parser:
    """Reads slices of records of one event type. Cheap to use, not to make: keep one per task."""

    def __init__(self, event_type: EventType) -> None:
        self._event_type = event_type
        self._fast = FastParser(event_type)

    def parse(self, values: Sequence[bytes | None] | pa.Array) -> Parsed:
        """Never raises because of what a record holds. None is a record without a value; an array is of binary."""
        array = values if isinstance(values, pa.Array) else pa.array(values, pa.binary())
        parsed = self._fast.read(array)
        unread = np.ones(len(array), np.bool_)
        unread[parsed.rows] = False
        rejects: list[Reject] = []
        accepted: list[tuple[int, tuple[Value, ...]]] = []
        for row in np.flatnonzero(unread).tolist():
            result = self._read_strictly(row, array[row].as_py())
            if isinstance(result, Reject):
                rejects.append(result)
            else:
                accepted.append((row, result))
        rows, columns = parsed.rows, parsed.columns
        if accepted:
            rows, columns = self._with_strict(rows, columns, accepted)
        names = (field.name for field in self._event_type.fields)
        return Parsed(rows, dict(zip(names, columns, strict=True)), tuple(rejects))

    def _with_strict(
        self,
        rows: Int64Array,
        columns: list[pa.Array],
        accepted: list[tuple[int, tuple[Value, ...]]],
    ) -> tuple[Int64Array, list[pa.Array]]:
        rows = np.concatenate([rows, np.array([row for row, _ in accepted], np.int64)])
        order = np.argsort(rows, kind="stable")
        strict = [
            _strict_array(field, [values[i] for _, values in accepted])
            for i, field in enumerate(self._event_type.fields)
        ]
        joined = [pa.concat_arrays(pair).take(order) for pair in zip(columns, strict, strict=True)]
        return rows[order], joined

    def _read_strictly(self, row: int, value: bytes | None) -> tuple[Value, ...] | Reject:
        if value is None:
            return Reject(row, UNPARSEABLE, "value: expected one JSON object, found a record without a value")
        if len(value) > MAX_VALUE_BYTES:
            return oversized(row, len(value))
        try:
            return read_record(self._event_type, value)
        except Unparseable as error:
            return Reject(row, UNPARSEABLE, str(error))


def oversized(row: int, length: int) -> Reject:
    """The refusal of a value of so many bytes."""
    return Reject(row, OVERSIZED, f"value: expected at most {MAX_VALUE_BYTES} bytes, found {length}")


def _strict_array(field: Field, values: list[Value]) -> pa.Array:
    if field.kind != "decimal":
        return pa.array(values, column_type(field))
    words = [None if value is None else int(value).to_bytes(16, "little", signed=True) for value in values]
    raw = pa.array(words, pa.binary(16))
    return pa.Array.from_buffers(DECIMAL, len(raw), raw.buffers())
