"""The codec of segments: an entry of the state log is runs of transactions, one after the other, in one of two forms.

    whole   an Arrow stream with all columns: quick to write, for what is soon merged
    apart   a directory, and behind it pieces that are compressed each by itself: one of the columns that stay for as
            long as the run, one for each other field. A piece can be left out without looking into the others.

An apart run begins with a mark that no Arrow stream begins with. Entries are joined by joining their bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.transactions.columns import BACKFILL, prunable_fields, segment_schema

MARK: Final = pa.field(BACKFILL, pa.bool_())
"""A column that a run has only where some of it was backfilled."""

# Threads would cost more than they save: a shard has one core.
_READ: Final = pa.ipc.IpcReadOptions(use_threads=False)
_QUICK: Final = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_DENSE: Final = "zstd"
# Before the length of the directory in bytes (unsigned, 4 bytes, little-endian); Arrow streams begin with 0xFFFFFFFF.
_APART: Final = b"TRIP"
_HEAD: Final = len(_APART) + 4


class _Piece(msgspec.Struct, array_like=True, frozen=True):
    """A record batch of these columns: ``length`` bytes in the entry, ``plain`` when decompressed."""

    columns: list[str]
    length: int
    plain: int


class _Directory(msgspec.Struct, array_like=True, frozen=True):
    rows: int
    pieces: list[_Piece]


_DIRECTORY: Final = msgspec.json.Decoder(_Directory)


@dataclass(frozen=True, slots=True)
class _ApartRun:
    """An apart run; each piece with the place in the entry at which it begins."""

    rows: int
    pieces: list[tuple[_Piece, int]]


class EntryForm:
    """Writes and reads the entries of one event type.

    :ivar schema: the columns that every whole run has
    """

    def __init__(self, event_type: EventType) -> None:
        self.schema = segment_schema(event_type)
        prunable = prunable_fields(event_type)
        self._stay = [name for name in self.schema.names if name not in prunable]

    def whole(self, table: pa.Table) -> bytes:
        """The run in whole form."""
        schema = self.schema.append(MARK) if BACKFILL in table.column_names else self.schema
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema, options=_QUICK) as writer:
            # as it is: to combine the chunks of a slice would copy it
            writer.write_table(table.cast(schema))
        data: bytes = sink.getvalue().to_pybytes()
        return data

    def apart(self, table: pa.Table, without: Collection[str]) -> bytes:
        """The run, which has rows, in apart form, without these fields."""
        stay = [*self._stay, BACKFILL] if BACKFILL in table.column_names else self._stay
        others = [[name] for name in self.schema.names if name not in self._stay and name not in without]
        pieces, bodies = [], []
        for columns in (stay, *others):
            (batch,) = table.select(columns).combine_chunks().to_batches()
            plain = batch.serialize()
            bodies.append(pa.compress(plain, codec=_DENSE, asbytes=True))
            pieces.append(_Piece(columns, len(bodies[-1]), plain.size))
        return _encoded(_Directory(table.num_rows, pieces), bodies)

    def read(self, data: bytes) -> pa.Table:
        """All runs of an entry as one table of one chunk; what a run is without reads as null, numbers as 0."""
        tables = [self._table(run, data) if isinstance(run, _ApartRun) else run for run in self._runs(data)]
        return joined(tables).combine_chunks()

    def without(self, data: bytes, fields: Collection[str]) -> bytes:
        """The entry without these fields; whole runs become apart ones."""
        parts = []
        for run in self._runs(data):
            if isinstance(run, _ApartRun):
                kept = [(piece, start) for piece, start in run.pieces if piece.columns[0] not in fields]
                bodies = [data[start : start + piece.length] for piece, start in kept]
                parts.append(_encoded(_Directory(run.rows, [piece for piece, _ in kept]), bodies))
            else:
                parts.append(self.apart(run, fields))
        return b"".join(parts)

    def _runs(self, data: bytes) -> Iterator[_ApartRun | pa.Table]:
        source = pa.BufferReader(data)
        while (message_start := source.tell()) < len(data):
            if data[message_start : message_start + len(_APART)] != _APART:
                yield pa.ipc.open_stream(source, options=_READ).read_all()
                continue
            start = message_start + _HEAD
            end = start + int.from_bytes(data[message_start + len(_APART) : start], "little")
            directory = _DIRECTORY.decode(data[start:end])
            pieces = []
            for piece in directory.pieces:
                pieces.append((piece, end))
                end += piece.length
            source.seek(end)
            yield _ApartRun(directory.rows, pieces)

    def _table(self, run: _ApartRun, data: bytes) -> pa.Table:
        columns: dict[str, pa.Array] = {}
        view = memoryview(data)
        for piece, start in run.pieces:
            plain = pa.decompress(view[start : start + piece.length], piece.plain, codec=_DENSE)
            schema = pa.schema([self._field(name) for name in piece.columns])
            batch = pa.ipc.read_record_batch(plain, schema)
            columns.update(zip(piece.columns, batch.columns, strict=True))
        fields = [*self.schema, MARK] if BACKFILL in columns else list(self.schema)
        arrays = [
            columns[field.name] if field.name in columns else _absent(field.type, run.rows)
            for field in fields
        ]
        return pa.table(arrays, schema=pa.schema(fields))

    def _field(self, name: str) -> pa.Field:
        return MARK if name == BACKFILL else self.schema.field(name)


def joined(tables: list[pa.Table]) -> pa.Table:
    """One after the other; a column that only some have is null in the others."""
    return pa.concat_tables(tables, promote_options="default")


def _encoded(directory: _Directory, bodies: list[bytes]) -> bytes:
    encoded = msgspec.json.encode(directory)
    return b"".join([_APART, len(encoded).to_bytes(4, "little"), encoded, *bodies])


def _absent(kind: pa.DataType, rows: int) -> pa.Array:
    if not pa.types.is_decimal(kind):
        return pa.nulls(rows, kind)
    # numbers are read as they lie in memory, null or not
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(bytes(kind.byte_width * rows))])
