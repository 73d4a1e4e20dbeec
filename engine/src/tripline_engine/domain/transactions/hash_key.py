"""The engine's SipHash key: identities of texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.siphash import hash_strings
from tripline_engine.domain.transactions.columns import Texts


@dataclass(frozen=True, slots=True)
class HashKey:
    """The engine's SipHash key: two unsigned 64-bit numbers."""

    first: int
    second: int

    def of(self, texts: Texts) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The 128-bit identities of n texts as (low, high)."""
        return hash_strings(texts.offsets, texts.data, self.first, self.second)
