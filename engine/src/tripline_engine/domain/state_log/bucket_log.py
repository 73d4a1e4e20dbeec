"""The durable form of buckets: what they hold of transactions that have left the history's segments.

Runs of buckets are written when rows leave the history, merged like the history's segments, a bounded piece of work
at a time, and go when their buckets are past every window. What is still in the history is not in here: a bucket is
what its runs say together, and the rows from ``folded`` on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_engine.domain.buckets.bucket_layout import BUCKET, COUNT, NODE
from tripline_engine.domain.buckets.bucket_window import BucketPool, Buckets
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.window_plan import BucketDemand
from tripline_engine.domain.state_log.state_log import BUCKETS, StateLog

_FAN_IN: Final = 16
_MAX_BUCKETS: Final = 1 << 18
_SCHEMA: Final = pa.schema(
    [
        ("low", pa.uint64()),
        ("high", pa.uint64()),
        ("bucket", pa.int64()),
        ("count", pa.int64()),
        *(
            (f"{what}{word}", pa.int64())
            for what in ("sum", "negative", "least", "greatest")
            for word in ("Low", "High")
        ),
    ]
)
_WRITE: Final = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
_READ: Final = pa.ipc.IpcReadOptions(use_threads=False)


@dataclass(frozen=True, slots=True)
class Run:
    """Some buckets in the log.

    :ivar newest: the latest bucket in it
    :ivar buckets: how many there are
    """

    number: int
    level: int
    newest: int
    buckets: int


@dataclass(slots=True)
class BucketSetEntry:
    """One bucket set's entry in the head record.

    :ivar begun: the position in rules.v1 at which it began
    :ivar folded: the sequence number of the first transaction that is not in the runs
    """

    number: int
    begun: int
    folded: int
    runs: list[Run] = field(default_factory=list)
    next: int = 0


class BucketLog:
    """The buckets of one anchor's bucket sets, by name."""

    def __init__(self, anchor: str, stored: Mapping[str, Any] | None = None) -> None:
        self._anchor = anchor
        self.sets: dict[str, BucketSetEntry] = {}
        self._next: int = stored["next"] if stored else 0
        for name, kept in (stored or {}).get("sets", {}).items():
            runs = [Run(*run) for run in kept["runs"]]
            self.sets[name] = BucketSetEntry(
                kept["number"], kept["begun"], kept["folded"], runs, kept["next"]
            )

    def to_json(self) -> dict[str, Any]:
        """As stored in the head record."""
        sets = {
            name: {
                "number": kept.number,
                "begun": kept.begun,
                "folded": kept.folded,
                "runs": [astuple(run) for run in kept.runs],
                "next": kept.next,
            }
            for name, kept in self.sets.items()
        }
        return {"next": self._next, "sets": sets}

    def hold(self, begun: Mapping[str, int], first: int, log: StateLog) -> None:
        """Keep exactly these sets; one that has begun elsewhere is another one.

        :param begun: the positions in rules.v1 at which they began
        :param first: the sequence number of the oldest transaction in the history
        """
        for name, kept in list(self.sets.items()):
            if begun.get(name) != kept.begun:
                self._forget(kept, log)
                del self.sets[name]
        for name in begun.keys() - self.sets.keys():
            self.sets[name] = BucketSetEntry(self._next, begun[name], first)
            self._next += 1

    @property
    def folded(self) -> int | None:
        """The sequence number up to which every set has all it needs here; None without sets."""
        return min((kept.folded for kept in self.sets.values()), default=None)

    def fold(self, name: str, buckets: Buckets, until: int, log: StateLog) -> None:
        """Add what the buckets hold of the transactions up to that sequence number."""
        kept = self.sets[name]
        kept.folded = until
        if len(buckets):
            run = Run(kept.next, 0, int(buckets.nodes[:, BUCKET].max()), len(buckets))
            log.put(self._key(kept, run), _encode(buckets))
            kept.next += 1
            kept.runs.append(run)

    def tidy(self, name: str, floor: int, length_ms: int, log: StateLog) -> None:
        """Let go of runs whose buckets are all before that one; merge the first series that is long enough."""
        kept = self.sets[name]
        for run in [run for run in kept.runs if run.newest < floor]:
            log.remove(self._key(kept, run))
            kept.runs.remove(run)
        for first in range(len(kept.runs) - _FAN_IN + 1):
            series = kept.runs[first : first + _FAN_IN]
            small = sum(run.buckets for run in series) <= _MAX_BUCKETS
            if small and len({run.level for run in series}) == 1:
                self._merge(kept, first, floor, length_ms, log)
                return

    def read(self, name: str, log: StateLog) -> Iterator[Buckets]:
        """All that is kept of a set, run by run: a bucket is what they say together."""
        kept = self.sets[name]
        return (self._read(kept, run, log) for run in kept.runs)

    def clear(self, accepted: int, log: StateLog) -> None:
        """Forget all transactions so far (``accepted``: how many)."""
        for kept in self.sets.values():
            self._forget(kept, log)
            kept.folded = accepted

    def _merge(self, kept: BucketSetEntry, first: int, floor: int, length_ms: int, log: StateLog) -> None:
        parts = kept.runs[first : first + _FAN_IN]
        from_floor = together((self._read(kept, run, log) for run in parts), length_ms).from_bucket(floor)
        for run in parts:
            log.remove(self._key(kept, run))
        kept.runs[first : first + _FAN_IN] = []
        if len(from_floor):
            merged = Run(
                parts[0].number, parts[0].level + 1, int(from_floor.nodes[:, BUCKET].max()), len(from_floor)
            )
            log.put(self._key(kept, merged), _encode(from_floor))
            kept.runs.insert(first, merged)

    def _forget(self, kept: BucketSetEntry, log: StateLog) -> None:
        for run in kept.runs:
            log.remove(self._key(kept, run))
        kept.runs.clear()

    def _read(self, kept: BucketSetEntry, run: Run, log: StateLog) -> Buckets:
        data = log.get(self._key(kept, run))
        if data is None:
            raise LookupError(f"{self._key(kept, run)} is missing from the state log")
        return _decode(data)

    def _key(self, kept: BucketSetEntry, run: Run) -> str:
        return f"{BUCKETS}{self._anchor}/{kept.number}/{run.number}"


def together(parts: Iterator[Buckets], length_ms: int) -> Buckets:
    """Each bucket of each group once."""
    pool = BucketPool(HeapArena(), "together", length_ms, BucketDemand((), seeks=False))
    for part in parts:
        pool.put(part)
    return pool.all()


def _encode(buckets: Buckets) -> bytes:
    content = buckets.nodes[:, COUNT:]
    columns = [buckets.low, buckets.high, buckets.nodes[:, BUCKET], *content.T]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA, options=_WRITE) as writer:
        writer.write_table(pa.table(arrays, schema=_SCHEMA))
    return bytes(sink.getvalue().to_pybytes())


def _decode(data: bytes) -> Buckets:
    table = pa.ipc.open_stream(data, options=_READ).read_all()
    columns: list[npt.NDArray[Any]] = [column.to_numpy() for column in table.columns]
    nodes = np.zeros((len(table), NODE), np.int64)
    nodes[:, BUCKET] = columns[2]
    nodes[:, COUNT:] = np.column_stack(columns[3:])
    return Buckets(columns[0], columns[1], nodes)
