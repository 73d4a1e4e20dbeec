"""Layout of buckets of event time in arrays, and how the contents of two are merged."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_engine.domain.groups.group_lists import Order
from tripline_engine.domain.memory.array_types import (
    HighWord,
    Int32Array,
    Int64Array,
    Millis,
    Offset,
    RowNumber,
    Word,
)
from tripline_engine.domain.memory.int128 import add, compare, subtract
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import Amounts

# A node holds a bucket: its number, its neighbours in the group's list, the group's slot (-1: the node is free), and
# its content. Extremes are set where COUNT is not 0. NEGATIVE is the sum of the amounts below zero.
BUCKET, NEXT, PREVIOUS, SLOT, COUNT, SUM, NEGATIVE, LEAST, GREATEST = 0, 1, 2, 3, 4, 5, 7, 9, 11
NODE: Final = 13
# A group's list: number of buckets; where that is not 0, the oldest and the newest node, and the group's number among
# the states, -1 for none.
BUCKETS, FIRST, LAST, NUMBER, LIST = 0, 1, 2, 3, 4
# The items of `meta`.
END, FREE, USED, BEGUN, EXPIRED, STATES_END, STATES_FREE, META = 0, 1, 2, 3, 4, 5, 6, 7

# The result of one evaluation (read it by `bucket_readings`): count and sum, extremes; of its first bucket, if that may
# hold too much, the count and the sums of the positive and the negative amounts; whether there are other buckets, and
# their extremes.
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
    :ivar meta: int64: nodes ever used, the first free one, number in use, where in rules.v1 the set began,
        the last bucket expired; numbers of states ever used, the first free one
    :ivar windows: int64, ms
    :ivar length: of a bucket, ms
    :ivar few: a group with more buckets has states
    :ivar seeks: whether extremes are asked for
    :ivar scratch: int64, 2 × NODE, for buckets that are in no list
    """

    nodes: Int64Array
    lists: Int32Array
    states: Int64Array
    meta: Int64Array
    windows: Int64Array
    length: Millis
    few: int
    seeks: bool
    scratch: Int64Array


class BucketSource(NamedTuple):
    """The lists of a population; by row the slot (int32) of a transaction that contributes, and the amount."""

    order: Order
    members: Int32Array
    amounts: Amounts


class Visible(NamedTuple):
    """What a bucket set shows.

    :ivar begin: older event times (ms) are not visible
    :ivar floor: nor are those of buckets below this one
    :ivar base: the oldest retained row
    """

    begin: Millis
    floor: int
    base: RowNumber


@kernel(inline="always")
def add_at(to: Int64Array, offset: Offset, low: Word, high: HighWord) -> None:
    new_low, new_high = add(np.uint64(to[offset]), to[offset + 1], low, high)
    to[offset], to[offset + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def subtract_at(to: Int64Array, offset: Offset, low: Word, high: HighWord) -> None:
    new_low, new_high = subtract(np.uint64(to[offset]), to[offset + 1], low, high)
    to[offset], to[offset + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def better(low: Word, high: HighWord, to: Int64Array, offset: Offset, sign: int) -> bool:
    """Whether the value is less (sign 1) or greater (sign -1) than the one there."""
    result: bool = sign * compare(low, high, np.uint64(to[offset]), to[offset + 1]) < 0
    return result


@kernel(inline="always")
def improve(to: Int64Array, offset: Offset, low: Word, high: HighWord, sign: int, first: bool) -> None:
    if first or better(low, high, to, offset, sign):
        to[offset], to[offset + 1] = np.int64(low), high


@kernel(inline="always")
def copy(out: Int64Array, offset: Offset, source: Int64Array, source_offset: Offset) -> None:
    out[offset], out[offset + 1] = source[source_offset], source[source_offset + 1]


@kernel(inline="always")
def single(low: Word, high: HighWord, out: Int64Array) -> None:
    """Lay one amount out as the content of a bucket."""
    out[COUNT] = 1
    out[SUM], out[SUM + 1] = np.int64(low), high
    out[NEGATIVE], out[NEGATIVE + 1] = (np.int64(low), high) if high < 0 else (0, 0)
    out[LEAST], out[LEAST + 1] = np.int64(low), high
    out[GREATEST], out[GREATEST + 1] = np.int64(low), high


@kernel(inline="always")
def merge(to: Int64Array, added: Int64Array) -> None:
    """Merge a bucket's content into another."""
    first = to[COUNT] == 0
    improve(to, LEAST, np.uint64(added[LEAST]), added[LEAST + 1], 1, first)
    improve(to, GREATEST, np.uint64(added[GREATEST]), added[GREATEST + 1], -1, first)
    to[COUNT] += added[COUNT]
    add_at(to, SUM, np.uint64(added[SUM]), added[SUM + 1])
    add_at(to, NEGATIVE, np.uint64(added[NEGATIVE]), added[NEGATIVE + 1])


@kernel()
def store_edge(node: Offset, nodes: Int64Array, out: Int64Array) -> None:
    """Write the content of the first bucket, part of which may be before the exact window."""
    out[O_EDGE] = nodes[node, COUNT]
    copy(out, O_NEGATIVE, nodes[node], NEGATIVE)
    copy(out, O_POSITIVE, nodes[node], SUM)
    subtract_at(out, O_POSITIVE, np.uint64(nodes[node, NEGATIVE]), nodes[node, NEGATIVE + 1])
