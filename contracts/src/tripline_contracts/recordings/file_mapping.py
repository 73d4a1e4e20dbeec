"""The mapping of a file: which columns make the fields of an event type, and how their values are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from zoneinfo import ZoneInfo

Format = Literal["csv", "json-lines", "json-array", "parquet"]
Encoding = Literal["utf-8", "latin-1", "windows-1252"]

FORMATS: Final[tuple[Format, ...]] = ("csv", "json-lines", "json-array", "parquet")
ENCODINGS: Final[tuple[Encoding, ...]] = ("utf-8", "latin-1", "windows-1252")
THOUSANDS: Final = (",", ".", " ", "'")


@dataclass(frozen=True, slots=True)
class Columns:
    """The value of a column; of several ones, joined by a space, where a date and a time of day stand apart."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """The value of the column at a position, from 1, for files without a header."""

    number: int


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value in every row."""

    value: str


@dataclass(frozen=True, slots=True)
class RowNumber:
    """The prefix and the number of the row's line, for files without ids."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number of units (of so many ms) since an instant (ms since the epoch)."""

    unit_ms: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class Iso:
    """ISO 8601 with a time of day, with or without a zone; a space may stand for the T."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """As `strptime` has it."""

    text: str


TimeForm = Count | Iso | Pattern
Source = Columns | Position | Constant | RowNumber


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """How one field comes about.

    :ivar form: of a time; None for the form that all times of the file have
    :ivar values: what the file says for what the field takes; None where it says the same
    """

    source: Source
    form: TimeForm | None = None
    values: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class FileMapping:
    """What a mapping file says. None is: recognise it.

    :ivar thousands: what stands between thousands; None is nothing
    :ivar time_zone: of times that name none
    :ivar nulls: what stands for no value, besides an empty cell
    :ivar shortest_floats: a binary number of Parquet is read as the shortest decimal that means it
    """

    fields: Mapping[str, FieldMapping]
    format: Format | None = None
    delimiter: str | None = None
    header: bool | None = None
    skip_lines: int = 0
    encoding: Encoding = "utf-8"
    decimal_comma: bool = False
    thousands: str | None = None
    time_zone: ZoneInfo | None = None
    time_form: TimeForm = field(default_factory=Iso)
    nulls: frozenset[str] = frozenset()
    shortest_floats: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns that are read by name, in order."""
        sources = (mapped.source for mapped in self.fields.values())
        names = (name for source in sources if isinstance(source, Columns) for name in source.names)
        return tuple(dict.fromkeys(names))

    @property
    def positions(self) -> tuple[int, ...]:
        """Those that are read by position, from 1."""
        sources = (mapped.source for mapped in self.fields.values())
        return tuple(dict.fromkeys(source.number for source in sources if isinstance(source, Position)))
