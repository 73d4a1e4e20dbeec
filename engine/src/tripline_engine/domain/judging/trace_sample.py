"""The evaluations of a traced version that leave the shard: a bounded sample of a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.judging.readings import RuleReading

MAX_RECORDS: Final = 1_000
"""Trace records of one shard and micro-batch, at most."""


@dataclass(frozen=True, slots=True)
class TraceSample:
    """The evaluations of one version that are traced.

    :ivar rows: int64, ascending: the indices of the first MAX_RECORDS of them among the rows judged together
    :ivar evaluations: how many there are
    :ivar fired: bool, by row: where an alert is due
    :ivar late: bool, by row
    :ivar cooled: bool, by row: where but for the cooldown an alert was due; None where nobody asks
    """

    reading: RuleReading
    rows: npt.NDArray[np.int64]
    evaluations: int
    fired: npt.NDArray[np.bool_]
    late: npt.NDArray[np.bool_]
    cooled: npt.NDArray[np.bool_] | None = None


def sample_traces(
    reading: RuleReading,
    traced: npt.NDArray[np.bool_],
    fired: npt.NDArray[np.bool_],
    late: npt.NDArray[np.bool_],
    cooled: npt.NDArray[np.bool_] | None = None,
) -> TraceSample:
    """The sample of a version's evaluations where ``traced`` (bool, by row) holds."""
    rows = np.flatnonzero(traced)
    return TraceSample(reading, rows[:MAX_RECORDS], len(rows), fired, late, cooled)
