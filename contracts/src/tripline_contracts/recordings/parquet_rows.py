"""Parquet files, without a float that the file does not have: by columns, or row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.csv_dialect import shown
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.recording import Columned
from tripline_contracts.recordings.rows import BadRow, Raw

_ROWS: Final = 8_192


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """A reader of Parquet, for who has pyarrow: not every package here does.

    :ivar pa: the module `pyarrow`
    :ivar pq: the module `pyarrow.parquet`
    """

    pa: Any
    pq: Any

    def __call__(self, file: IO[bytes], event_type: EventType, mapping: FileMapping | None) -> Columned:
        """The rows of the columns that are read, and the names of the others. Raises UnreadableFile."""
        opened = ParquetColumns.of(file, event_type, mapping, self.pa, self.pq)
        return opened.rows(), opened.unused


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """An opened file, and the columns of it that are read.

    :ivar columns: their names, each with the name under which its cells are read
    :ivar unused: the other ones
    :ivar group_rows: how many rows each row group has
    """

    columns: dict[str, str]
    unused: tuple[str, ...]
    group_rows: tuple[int, ...]
    _file: Any
    _pa: Any

    @staticmethod
    def of(
        file: IO[bytes], event_type: EventType, mapping: FileMapping | None, pa: Any, pq: Any
    ) -> ParquetColumns:
        """Opens one; `pa` and `pq` are pyarrow's modules. Raises UnreadableFile."""
        try:
            opened = pq.ParquetFile(file)
            names: list[str] = opened.schema_arrow.names
            groups = tuple(opened.metadata.row_group(i).num_rows for i in range(opened.num_row_groups))
        except (pa.ArrowException, OSError) as error:
            raise UnreadableFile(f"the file is Parquet that cannot be read: {error}") from error
        columns = _mapped(names, mapping) if mapping is not None else _ours(names, event_type)
        unused = tuple(name for name in names if name not in columns)
        return ParquetColumns(columns, unused, groups, opened, pa)

    def batches(self, size: int = _ROWS, groups: Sequence[int] | None = None) -> Iterator[Any]:
        """Record batches of the columns, of all row groups or of these. Raises pyarrow's errors, and OSError."""
        yield from self._file.iter_batches(size, row_groups=groups, columns=list(self.columns))

    def raws(self, batch: Any, numbers: Sequence[int]) -> list[Raw]:
        """The rows of a batch, which have these numbers in the file.

        Raises ValueError or OverflowError for a cell that no Python value stands for: a text that is no UTF-8, a time
        beyond the year 9999.
        """
        values = [_plain(batch.column(name), self._pa).to_pylist() for name in batch.schema.names]
        names = [self.columns[name] for name in batch.schema.names]
        return [
            Raw(number, dict(zip(names, row, strict=True)))
            for number, row in zip(numbers, zip(*values, strict=True), strict=True)
        ]

    def rows(self) -> Iterator[Raw | BadRow]:
        """All rows; where the file ends too early, that is the last one."""
        number = 0
        try:
            for batch in self.batches():
                yield from self.raws(batch, range(number + 1, number + 1 + batch.num_rows))
                number += batch.num_rows
        except (self._pa.ArrowException, OSError, ValueError, OverflowError) as error:
            yield BadRow(number + 1, f"nothing can be read from here on: {error}")


def _mapped(names: list[str], mapping: FileMapping) -> dict[str, str]:
    """Columns of the file, and under which name they are read."""
    if mapping.positions:
        raise UnreadableFile(
            "the mapping reads columns by position, and Parquet has names; expected `column`"
        )
    missing = [name for name in mapping.columns if name not in names]
    if missing:
        raise UnreadableFile(f"the file has no column {missing[0]!r}; it has {shown(names)}")
    return {name: name for name in mapping.columns}


def _ours(names: list[str], event_type: EventType) -> dict[str, str]:
    fields = {name: field.name for name in names if (field := event_type.find(name)) is not None}
    missing = [
        field.name for field in event_type.fields if field.required and field.name not in fields.values()
    ]
    if missing:
        raise UnreadableFile(
            f"the file has no column for {', '.join(missing)}; it has {shown(names)}. A mapping says which columns are"
            " which fields (`--propose` makes one)"
        )
    if len(set(fields.values())) < len(fields):
        raise UnreadableFile(
            f"the file has a field twice, of {shown(list(fields))}; a mapping says which one counts"
        )
    return fields


def _plain(column: Any, pa: Any) -> Any:
    """Times in ms, what is finer is cut off; dates and times of day as their texts; dictionaries unfolded."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode(), pa)
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ms", kind.tz), safe=False)
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return column.cast(pa.string())
    return column
