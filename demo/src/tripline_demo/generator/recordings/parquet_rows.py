"""The reader of Parquet files, where pyarrow is there."""

from __future__ import annotations

from typing import IO

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.parquet_rows import ParquetRows
from tripline_contracts.recordings.recording import Columned


def parquet_rows(file: IO[bytes], event_type: EventType, mapping: FileMapping | None) -> Columned:
    """The rows of the columns that are read, and the names of the others. Raises UnreadableFile."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # the generator's image leaves it out
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise UnreadableFile(
            "the file is Parquet, and pyarrow, which reads it, is not installed here"
        ) from None
    return ParquetRows(pa, pq)(file, event_type, mapping)
