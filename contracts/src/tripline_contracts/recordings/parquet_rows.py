"""Parquet files, row by row, without a float that the file does not have."""

from __future__ import annotations

from collections.abc import Iterator
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
        try:
            opened = self.pq.ParquetFile(file)
            names: list[str] = opened.schema_arrow.names
        except (self.pa.ArrowException, OSError) as error:
            raise UnreadableFile(f"the file is Parquet that cannot be read: {error}") from error
        columns = _mapped(names, mapping) if mapping is not None else _ours(names, event_type)
        return _rows(opened, columns, self.pa), tuple(name for name in names if name not in columns)


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


def _rows(opened: Any, columns: dict[str, str], pa: Any) -> Iterator[Raw | BadRow]:
    number = 0
    try:
        for batch in opened.iter_batches(_ROWS, columns=list(columns)):
            values = {
                columns[name]: _plain(batch.column(name), pa).to_pylist() for name in batch.schema.names
            }
            for row in zip(*values.values(), strict=True):
                number += 1
                yield Raw(number, dict(zip(values, row, strict=True)))
    except (pa.ArrowException, OSError) as error:
        yield BadRow(number + 1, f"nothing can be read from here on: {error}")


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
