"""Rows of a file: what was read, and what could not be, with its line and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

Value = str | int | Decimal | float | bool | datetime | None
"""A cell as its format has it. A float comes from Parquet alone; a datetime too, without zone where it has none."""

Cells = Mapping[str, object]
"""A row's cells by the names of their columns; `str(number)`, from 1, where the columns have no names."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A row as it stands in the file. Lines (in Parquet: rows) count from 1; a row may go on over several."""

    line: int
    cells: Cells


@dataclass(frozen=True, slots=True)
class Row:
    """A row that was understood: fields of the event type by their names, times in ms, numbers exact."""

    line: int
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out, and why."""

    line: int
    reason: str
