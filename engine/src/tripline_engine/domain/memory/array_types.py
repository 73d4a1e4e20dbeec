"""Names for what kernels take: arrays by dtype, and whole numbers by what they count.

A kernel's parameters are compiled for the dtypes that they are given, so these names are for readers and mypy: the
integers below all arrive as 64-bit numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    # how wide a row number, slot or offset is, only kernels need to know
    int32 = int64 = int
else:
    int32, int64 = np.int32, np.int64

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Uint8Array: TypeAlias = npt.NDArray[np.uint8]
Uint16Array: TypeAlias = npt.NDArray[np.uint16]
Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Uint64Array: TypeAlias = npt.NDArray[np.uint64]

Word: TypeAlias = np.uint64
"""64 bits: half of a 128-bit key, or the low half of a 128-bit number."""
HighWord: TypeAlias = np.int64
"""The high, signed half of a 128-bit number."""
Int128: TypeAlias = tuple[Word, HighWord]
"""A signed 128-bit number, low word first."""
Key128: TypeAlias = tuple[Word, Word]
"""A 128-bit key, low word first."""

RowNumber: TypeAlias = int
"""A row of a history: an index into its columns. NO_ROW stands for none."""
NO_ROW: Final = -1
"""The row number where there is no row: no neighbour in a list, or one that has left the history."""
Slot: TypeAlias = int
"""A group's number in a slot table. Negative values say why a row has no group."""
Offset: TypeAlias = int
"""An index into a pool of states or a buffer."""
Millis: TypeAlias = int
"""A time or a length of time in milliseconds; times count from the epoch, UTC."""
