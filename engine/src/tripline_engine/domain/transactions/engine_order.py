"""The engine's order of a micro-batch's transactions: by running maximum of record times, then partition, then offset.

Slices of one partition come with their offsets ascending. Laid one after the other by partition and offset, a single
stable sort by the running maximum orders them all, and those of one partition are in order as they lie.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array


def engine_order(running_max: Int64Array, partitions: Int32Array, offsets: Int64Array) -> Int64Array | None:
    """The indices (int64, n) of n transactions in the engine's order; None if that is how they lie.

    :param running_max: highest record time (ms) of the partition in the micro-batch up to each transaction
    """
    if not _ascending(partitions, offsets):
        order: Int64Array = np.lexsort((offsets, partitions, running_max))
        return order
    if (running_max[1:] >= running_max[:-1]).all():
        return None
    by_time: Int64Array = np.argsort(running_max, kind="stable")
    return by_time


def _ascending(partitions: Int32Array, offsets: Int64Array) -> bool:
    """Whether they lie by partition, then offset."""
    same: BoolArray = partitions[1:] == partitions[:-1]
    later: BoolArray = (partitions[1:] > partitions[:-1]) | (same & (offsets[1:] >= offsets[:-1]))
    return bool(later.all())
