"""Precision of a rule: of the cases that were decided, the share that was fraud, with the interval it may lie in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_Z: Final = 1.959963984540054
"""Of the standard normal distribution 95 % lie within so many deviations."""
DIGITS: Final = 4
"""Of shares; they are told to people, and decide nothing."""


@dataclass(frozen=True, slots=True)
class Precision:
    """A share, and the ends of its 95 % interval by Wilson's score, all from 0 to 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """

    value: float
    low: float
    high: float

    @staticmethod
    def of(confirmed: int, wrong: int) -> Precision | None:
        """Of so many cases of fraud and so many false positives; None where there are neither."""
        count = confirmed + wrong
        if count == 0:
            return None
        share, square = confirmed / count, _Z * _Z
        centre = share + square / (2 * count)
        half = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count * count))
        scale = 1 + square / count
        low, high = (centre - half) / scale, (centre + half) / scale
        return Precision(round(share, DIGITS), round(max(0.0, low), DIGITS), round(min(1.0, high), DIGITS))
