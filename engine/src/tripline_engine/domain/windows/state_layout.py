"""Layout of groups' states for several window lengths: contiguous, as a transaction touches all of its group's.

slot 0, window 0 | slot 0, window 1 | … | slot 1, window 0 | …        each len(empty) int64 wide
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Arena, Array


def relayout(
    arena: Arena,
    name: str,
    before: tuple[int, ...],
    after: tuple[int, ...],
    empty: npt.NDArray[np.int64],
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Lay the array of that name out for other window lengths (ms); states of lengths that stay are kept.

    :returns: the array, and the indexes in ``after`` of those that are new: their states are empty
    """
    old = arena.open(name, np.int64, 0).reshape(-1, len(before), len(empty)).copy()
    new = arena.resize(name, len(old) * len(after) * len(empty))
    states = new.reshape(-1, len(after), len(empty))
    kept = {window: index for index, window in enumerate(before)}
    for index, window in enumerate(after):
        states[:, index] = old[:, kept[window]] if window in kept else empty
    return new, np.array([index for index, window in enumerate(after) if window not in kept], np.int64)
