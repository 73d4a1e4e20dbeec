"""How buckets of event time are laid out in arrays, and how what two of them hold is put together."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tripline_engine.domain.memory.arena import Array
from tripline_engine.domain.memory.int128 import add, compare, subtract
from tripline_engine.domain.memory.kernel import kernel

# A bucket: its number, its neighbours in the group's list, the group's slot (-1: the place is free), and what is in
# it. Extremes are set where COUNT is not 0. NEGATIVE is the sum of the amounts below nought.
BUCKET, NEXT, PREVIOUS, SLOT, COUNT, SUM, NEGATIVE, LEAST, GREATEST = 0, 1, 2, 3, 4, 5, 7, 9, 11
NODE: Final = 13
# A group's list: how many buckets it has; where that is not 0, the oldest and the newest as places in the pool, and the
# group's number among the states, -1 for none.
BUCKETS, FIRST, LAST, NUMBER, LIST = 0, 1, 2, 3, 4
# What `meta` holds.
END, FREE, USED, BEGUN, EVICTED, STATES_END, STATES_FREE, META = 0, 1, 2, 3, 4, 5, 6, 7

# What one evaluation comes to: count and sum, extremes; of its first bucket, if that may hold too much, the count and
# the sums of the positive and the negative amounts; whether there are other buckets, and their extremes.
O_COUNT, O_SUM, O_LEAST, O_GREATEST, O_EDGE, O_POSITIVE, O_NEGATIVE, O_REST, O_REST_LEAST, O_REST_GREATEST = (
    0, 1, 3, 5, 7, 8, 10, 12, 13, 15
)  # fmt: skip
OUT: Final = 17
ABOVE_ALL: Final = 2**62
"""No bucket has that number, nor a greater one."""


class Pool(NamedTuple):
    """The buckets of one population, for kernels.

    :ivar nodes: int64, capacity × NODE
    :ivar lists: int32, slots × LIST, new ones 0
    :ivar states: int64, numbers × windows × STATE
    :ivar meta: int64: places ever used, the first free one, how many are in use, where in rules.v1 the set began,
        the last bucket evicted; numbers of states ever used, the first free one
    :ivar windows: int64, ms
    :ivar length: of a bucket, ms
    :ivar few: a group with more buckets has states
    :ivar seeks: whether extremes are asked for
    :ivar room: int64, 2 × NODE, for buckets that are only looked at
    """

    nodes: Array
    lists: Array
    states: Array
    meta: Array
    windows: Array
    length: int
    few: int
    seeks: bool
    room: Array


@kernel(inline="always")
def add_at(to: Any, at: int, low: Any, high: Any) -> None:
    new_low, new_high = add(np.uint64(to[at]), to[at + 1], low, high)
    to[at], to[at + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def subtract_at(to: Any, at: int, low: Any, high: Any) -> None:
    new_low, new_high = subtract(np.uint64(to[at]), to[at + 1], low, high)
    to[at], to[at + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def better(low: Any, high: Any, to: Any, at: int, sign: int) -> bool:
    """Whether the value is less (sign 1) or greater (sign -1) than the one there."""
    result: bool = sign * compare(low, high, np.uint64(to[at]), to[at + 1]) < 0
    return result


@kernel(inline="always")
def improve(to: Any, at: int, low: Any, high: Any, sign: int, first: bool) -> None:
    if first or better(low, high, to, at, sign):
        to[at], to[at + 1] = np.int64(low), high


@kernel(inline="always")
def copy(out: Any, at: int, source: Any, source_at: int) -> None:
    out[at], out[at + 1] = source[source_at], source[source_at + 1]


@kernel(inline="always")
def single(low: Any, high: Any, out: Any) -> None:
    """Lay one amount out as the content of a bucket."""
    out[COUNT] = 1
    out[SUM], out[SUM + 1] = np.int64(low), high
    out[NEGATIVE], out[NEGATIVE + 1] = (np.int64(low), high) if high < 0 else (0, 0)
    out[LEAST], out[LEAST + 1] = np.int64(low), high
    out[GREATEST], out[GREATEST + 1] = np.int64(low), high


@kernel(inline="always")
def join(to: Any, added: Any) -> None:
    """Put one bucket's content into another."""
    first = to[COUNT] == 0
    improve(to, LEAST, np.uint64(added[LEAST]), added[LEAST + 1], 1, first)
    improve(to, GREATEST, np.uint64(added[GREATEST]), added[GREATEST + 1], -1, first)
    to[COUNT] += added[COUNT]
    add_at(to, SUM, np.uint64(added[SUM]), added[SUM + 1])
    add_at(to, NEGATIVE, np.uint64(added[NEGATIVE]), added[NEGATIVE + 1])


@kernel()
def tell_edge(node: Any, nodes: Any, out: Any) -> None:
    """What the first bucket holds, part of which may be before the exact window."""
    out[O_EDGE] = nodes[node, COUNT]
    copy(out, O_NEGATIVE, nodes[node], NEGATIVE)
    copy(out, O_POSITIVE, nodes[node], SUM)
    subtract_at(out, O_POSITIVE, np.uint64(nodes[node, NEGATIVE]), nodes[node, NEGATIVE + 1])
