"""Payments in a Parquet file, as many as are asked for, and all of a few payees' to count by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

START: Final = 1_700_000_000_000
RATE: Final = 5_000
"""Payments a second of event time."""
_CHUNK: Final = 1 << 20
_GROUP: Final = 1 << 17
_EVERY: Final = 100
"""Of so many payees one is looked at."""

Column = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Watched:
    """Payments of some payees, in the order of the file; `number` is which payment of all it is."""

    number: Column
    payee: Column
    cents: Column

    def sums(self, window_ms: int) -> Column:
        """Cents in the window that ends with each, by looking back from it: not as the engine does it."""
        time = times(self.number)
        sums = np.zeros(len(self.number), np.int64)
        for payee in np.unique(self.payee):
            mine = np.flatnonzero(self.payee == payee)
            total = np.concatenate([[0], np.cumsum(self.cents[mine])])
            first = np.searchsorted(time[mine], time[mine] - window_ms, "left")
            sums[mine] = total[1:] - total[first]
        return sums

    def limit(self, window_ms: int, share: float) -> Decimal:
        """What that share of these payments is over."""
        return Decimal(int(np.quantile(self.sums(window_ms), 1 - share))).scaleb(-2)


def times(number: Column) -> Column:
    """Event times in ms."""
    return START + number * 1_000 // RATE


def write_payments(file: Path, payments: int, payees: int, seed: int) -> Watched:
    """Writes so many between so many payees and as many beneficiaries, all equally busy."""
    random = np.random.default_rng(seed)
    watched: list[Sequence[Column]] = []
    writer: pq.ParquetWriter | None = None
    for first in range(0, payments, _CHUNK):
        number = np.arange(first, min(first + _CHUNK, payments))
        payee, beneficiary = (random.integers(0, payees, number.size) for _ in range(2))
        cents, kind = random.integers(1_00, 1_000_00, number.size), random.integers(0, 2, number.size)
        table = _table(number, payee, beneficiary, cents, kind)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table, row_group_size=_GROUP)
        looked_at = payee % _EVERY == 0
        watched.append([number[looked_at], payee[looked_at], cents[looked_at]])
    if writer is not None:
        writer.close()
    return Watched(*(np.concatenate(column) for column in zip(*watched, strict=True)))


def _table(number: Column, payee: Column, beneficiary: Column, cents: Column, kind: Column) -> pa.Table:
    words = np.stack([cents, cents >> 63], axis=1)
    time = pa.array(times(number))
    names = [f"b-{one}" for one in number.tolist()]
    return pa.table({
        "transactionId": pa.array(names),
        "eventTime": time,
        "payeeId": pa.array(payee).cast(pa.string()),
        "beneficiaryId": pa.array(beneficiary).cast(pa.string()),
        "paymentAmount": pa.Array.from_buffers(pa.decimal128(24, 2), number.size, [None, pa.py_buffer(words)]),
        "paymentType": pa.array(np.array(["CSH", "CRD"])[kind]),
        "ingestionTimestamp": time,
    })  # fmt: skip
