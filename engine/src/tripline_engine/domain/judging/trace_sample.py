"""The evaluations of a traced version that leave the shard: a bounded sample of a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.judging.readings import RuleReading

MAX_RECORDS: Final = 1_000
"""Of one shard and micro-batch."""


@dataclass(frozen=True, slots=True)
class TraceSample:
    """The evaluations of one version that are to be told.

    :ivar rows: int64, ascending: where the first MAX_RECORDS of them are among the rows that were judged together
    :ivar found: how many there are
    :ivar fired: bool, by row: where an alert is due
    :ivar late: bool, by row
    """

    reading: RuleReading
    rows: npt.NDArray[np.int64]
    found: int
    fired: npt.NDArray[np.bool_]
    late: npt.NDArray[np.bool_]


def sample_traces(
    reading: RuleReading,
    told: npt.NDArray[np.bool_],
    fired: npt.NDArray[np.bool_],
    late: npt.NDArray[np.bool_],
) -> TraceSample:
    """What is to be told of a version: its evaluations where ``told`` (bool, by row) says so."""
    rows = np.flatnonzero(told)
    return TraceSample(reading, rows[:MAX_RECORDS], len(rows), fired, late)
