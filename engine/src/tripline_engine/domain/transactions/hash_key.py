"""The engine's SipHash key: identities of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tripline_engine.domain.memory.array_types import Uint64Array
from tripline_engine.domain.memory.siphash import hash_strings
from tripline_engine.domain.transactions.columns import Texts


@dataclass(frozen=True, slots=True)
class HashKey:
    """The engine's SipHash key: two unsigned 64-bit numbers."""

    first: int
    second: int

    def of(self, texts: Texts) -> tuple[Uint64Array, Uint64Array]:
        """The 128-bit identities of n texts as (low, high)."""
        return hash_strings(texts.offsets, texts.data, self.first, self.second)

    def of_all(self, values: Sequence[str]) -> tuple[Uint64Array, Uint64Array]:
        """The same of texts that are in no column."""
        encoded = [value.encode() for value in values]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        data = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
        return self.of(Texts(offsets, data, np.ones(len(values), np.bool_)))
