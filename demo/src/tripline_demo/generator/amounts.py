"""Amounts as people spend them."""

from __future__ import annotations

from typing import Final

import numpy as np

from tripline_demo.generator.chance import Indices, Integers, normals

MAX_ORDINARY_CENTS: Final = 5_000_00

_MEDIAN_CENTS: Final = 38_00
_SPREAD: Final = 0.9


def ordinary_cents(seed: int, purpose: int, index: Indices) -> Integers:
    """Log-normal, in cents: half of all below 38.00, the mean near 57, never above 5,000.00."""
    cents = np.exp(np.log(_MEDIAN_CENTS) + _SPREAD * normals(seed, purpose, index))
    clipped: Integers = np.clip(cents.astype(np.int64), 1_00, MAX_ORDINARY_CENTS)
    return clipped
