"""The shape of the stream: what it depends on, and what all its transactions have, whatever the event type.

What depends on the moment of sending (record time, event time in ms since the epoch) is added when a transaction is
rendered; here an event time is an age: how long before its record the transaction happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tripline_demo.generator.chance import Indices, Integers, between, shares

DEFAULT_RATE: Final = 200
LATE_MS: Final = (60_000, 570_000)
"""Ages of late records: minutes, yet inside the default lateness of 10 minutes."""

_JITTER_MS: Final = 40.0
_MAX_JITTER_MS: Final = 1_500


class Kind(IntEnum):
    """The fate of a transaction on its way out."""

    PLAIN = 0
    LATE = 1
    DUPLICATE = 2
    BROKEN = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of the stream's content; `sizes` are those of the populations, in their order."""

    seed: int
    sizes: tuple[int, ...]
    period: int
    scenarios: tuple[str, ...]
    late_share: float
    duplicate_share: float
    broken_share: float


@dataclass(frozen=True, slots=True)
class Made:
    """One transaction of the stream; `age_ms` is its event time, counted back from its record time."""

    number: int
    age_ms: int
    kind: int


def period_for(rate: int, lanes: int) -> int:
    """One transaction of how many belongs to each lane: 100; below 200/s fewer, or no window would fill."""
    return max(2 * lanes, min(100, rate * 100 // DEFAULT_RATE))


def place(lanes: Sequence[str], name: str, period: int) -> int:
    """The offset of the lane of that name in each period; lanes never meet."""
    return lanes.index(name) * (period // len(lanes)) + 1


def in_lane(index: Indices, period: int, lane: int) -> npt.NDArray[np.intp]:
    """The transactions that belong to the lane at that offset."""
    return np.flatnonzero(index % np.uint64(period) == np.uint64(lane))


def fates(shape: Shape, index: Indices) -> tuple[Integers, Integers]:
    """Kinds by their shares, and ages: mostly some ten milliseconds, of late ones minutes."""
    drawn = shares(shape.seed, 5, index)
    late = shape.late_share
    duplicate = late + shape.duplicate_share
    broken = duplicate + shape.broken_share
    kind = np.searchsorted(np.array([late, duplicate, broken]), drawn, side="right")
    # searchsorted counts the bounds at or below: 0 late, 1 duplicate, 2 broken, 3 none of them
    kind = np.array([Kind.LATE, Kind.DUPLICATE, Kind.BROKEN, Kind.PLAIN], np.int64)[kind]
    jitter = (-_JITTER_MS * np.log(1.0 - shares(shape.seed, 6, index))).astype(np.int64)
    age = np.minimum(jitter, _MAX_JITTER_MS)
    return kind, np.where(kind == Kind.LATE, between(shape.seed, 7, index, *LATE_MS), age)
