"""Buckets of event time for every group of a population: how many transactions, their sum, their extremes.

Each group has a list of its buckets, oldest first. One with more than a few has for each window length a running state:
the buckets of the window that ends with its newest transaction. In event-time order a state only moves forward, O(1)
amortised; where there are few buckets, they are gone through. A late transaction goes through its window's buckets, and
for its own bucket through the transactions themselves.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tripline_engine.domain.arena import Array
from tripline_engine.domain.compiled import kernel
from tripline_engine.domain.int128 import add, compare, subtract
from tripline_engine.domain.links import NOTHING

# A bucket: its number, its neighbours in the group's list, the group's slot (-1: the place is free), and what is in
# it. Extremes are set where COUNT is not 0. NEGATIVE is the sum of the amounts below nought.
BUCKET, _NEXT, _PREVIOUS, SLOT, COUNT, SUM, NEGATIVE, LEAST, GREATEST = 0, 1, 2, 3, 4, 5, 7, 9, 11
NODE: Final = 13
# A group's list: how many buckets it has; where that is not 0, the oldest and the newest as places in the pool, and the
# group's number among the states, -1 for none.
_BUCKETS, _FIRST, _LAST, NUMBER, LIST = 0, 1, 2, 3, 4
# A window of a group: from which bucket on it counts, the first place there, count and sum, and the places of the
# extremes, and of those without the first bucket (-1: to be looked for).
_FROM, START, _COUNT, _SUM, _LEAST, _GREATEST, _REST_LEAST, _REST_GREATEST, STATE = 0, 1, 2, 3, 5, 6, 7, 8, 9
# What `meta` holds.
END, FREE, USED, BEGUN, EVICTED, STATES_END, STATES_FREE, META = 0, 1, 2, 3, 4, 5, 6, 7

# What one evaluation comes to: count and sum, extremes; of its first bucket, if that may hold too much, the count and
# the sums of the positive and the negative amounts; whether there are other buckets, and their extremes.
O_COUNT, O_SUM, O_LEAST, O_GREATEST, O_EDGE, O_POSITIVE, O_NEGATIVE, O_REST, O_REST_LEAST, O_REST_GREATEST = (
    0,
    1,
    3,
    5,
    7,
    8,
    10,
    12,
    13,
    15,
)
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
def _add_at(to: Any, at: int, low: Any, high: Any) -> None:
    new_low, new_high = add(np.uint64(to[at]), to[at + 1], low, high)
    to[at], to[at + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def _subtract_at(to: Any, at: int, low: Any, high: Any) -> None:
    new_low, new_high = subtract(np.uint64(to[at]), to[at + 1], low, high)
    to[at], to[at + 1] = np.int64(new_low), new_high


@kernel(inline="always")
def _better(low: Any, high: Any, to: Any, at: int, sign: int) -> bool:
    """Whether the value is less (sign 1) or greater (sign -1) than the one there."""
    result: bool = sign * compare(low, high, np.uint64(to[at]), to[at + 1]) < 0
    return result


@kernel(inline="always")
def _improve(to: Any, at: int, low: Any, high: Any, sign: int, first: bool) -> None:
    if first or _better(low, high, to, at, sign):
        to[at], to[at + 1] = np.int64(low), high


@kernel(inline="always")
def _take(pool: Pool) -> Any:
    """A free place."""
    meta = pool.meta
    if meta[FREE] >= 0:
        node = meta[FREE]
        meta[FREE] = pool.nodes[node, _NEXT]
    else:
        node = meta[END]
        meta[END] += 1
    meta[USED] += 1
    pool.nodes[node, :] = 0
    return node


@kernel(inline="always")
def _blank(states: Any) -> None:
    """Let the windows of one group hold nothing."""
    states[:, :] = 0
    for k in range(len(states)):
        states[k, _FROM] = NOTHING
        states[k, START] = -1
        states[k, _LEAST] = -1
        states[k, _GREATEST] = -1
        states[k, _REST_LEAST] = -1
        states[k, _REST_GREATEST] = -1


@kernel(inline="always")
def _place(slot: Any, bucket: Any, pool: Pool) -> Any:
    """The group's bucket of that number, and whether it is a new one."""
    nodes, lists = pool.nodes, pool.lists
    older, newer = np.int64(lists[slot, _LAST] if lists[slot, _BUCKETS] > 0 else -1), np.int64(-1)
    while older >= 0 and nodes[older, BUCKET] > bucket:
        newer, older = older, nodes[older, _PREVIOUS]
    if older >= 0 and nodes[older, BUCKET] == bucket:
        return older, False
    node = _take(pool)
    nodes[node, BUCKET], nodes[node, SLOT] = bucket, slot
    nodes[node, _PREVIOUS], nodes[node, _NEXT] = older, newer
    if lists[slot, _BUCKETS] == 0:
        lists[slot, NUMBER] = -1
    lists[slot, _BUCKETS] += 1
    if older >= 0:
        nodes[older, _NEXT] = node
    else:
        lists[slot, _FIRST] = node
    if newer >= 0:
        nodes[newer, _PREVIOUS] = node
    else:
        lists[slot, _LAST] = node
    return node, True


@kernel()
def _begin_states(slot: Any, pool: Pool) -> None:
    """Give the group states, of windows over all of its buckets."""
    meta, states = pool.meta, pool.states
    number = meta[STATES_FREE]
    if number >= 0:
        meta[STATES_FREE] = states[number, 0, 0]
    else:
        number = meta[STATES_END]
        meta[STATES_END] += 1
    pool.lists[slot, NUMBER] = number
    own = states[number]
    _blank(own)
    for k in range(len(own)):
        node = np.int64(pool.lists[slot, _FIRST])
        own[k, START] = node
        while node >= 0:
            own[k, _COUNT] += pool.nodes[node, COUNT]
            _add_at(own[k], _SUM, np.uint64(pool.nodes[node, SUM]), pool.nodes[node, SUM + 1])
            node = pool.nodes[node, _NEXT]


@kernel(inline="always")
def _follow(node: Any, number: Any, added: Any, pool: Pool) -> None:
    """Count what was added to the bucket (laid out as one) into the group's windows."""
    nodes = pool.nodes
    for k in range(len(pool.windows)):
        state = pool.states[number, k]
        if nodes[node, BUCKET] < state[_FROM]:
            continue
        state[_COUNT] += added[COUNT]
        _add_at(state, _SUM, np.uint64(added[SUM]), added[SUM + 1])
        if state[START] < 0 or nodes[node, BUCKET] < nodes[state[START], BUCKET]:
            _begin_with(state, node)
        _follow_extremes(state, _LEAST, _GREATEST, node, added, nodes)
        if node != state[START]:
            _follow_extremes(state, _REST_LEAST, _REST_GREATEST, node, added, nodes)


@kernel(inline="always")
def _begin_with(state: Any, node: Any) -> None:
    state[START] = node
    state[_REST_LEAST], state[_REST_GREATEST] = -1, -1


@kernel(inline="always")
def _follow_extremes(state: Any, least_at: int, greatest_at: int, node: Any, added: Any, nodes: Any) -> None:
    least, greatest = state[least_at], state[greatest_at]
    if least >= 0 and _better(np.uint64(added[LEAST]), added[LEAST + 1], nodes[least], LEAST, 1):
        state[least_at] = node
    if greatest >= 0 and _better(
        np.uint64(added[GREATEST]), added[GREATEST + 1], nodes[greatest], GREATEST, -1
    ):
        state[greatest_at] = node


@kernel(inline="always")
def _join(to: Any, added: Any) -> None:
    """Put one bucket's content into another."""
    first = to[COUNT] == 0
    _improve(to, LEAST, np.uint64(added[LEAST]), added[LEAST + 1], 1, first)
    _improve(to, GREATEST, np.uint64(added[GREATEST]), added[GREATEST + 1], -1, first)
    to[COUNT] += added[COUNT]
    _add_at(to, SUM, np.uint64(added[SUM]), added[SUM + 1])
    _add_at(to, NEGATIVE, np.uint64(added[NEGATIVE]), added[NEGATIVE + 1])


@kernel(inline="always")
def _single(low: Any, high: Any, out: Any) -> None:
    """Lay one amount out as the content of a bucket."""
    out[COUNT] = 1
    out[SUM], out[SUM + 1] = np.int64(low), high
    out[NEGATIVE], out[NEGATIVE + 1] = (np.int64(low), high) if high < 0 else (0, 0)
    out[LEAST], out[LEAST + 1] = np.int64(low), high
    out[GREATEST], out[GREATEST + 1] = np.int64(low), high


@kernel(inline="always")
def _put(slot: Any, bucket: Any, added: Any, pool: Pool) -> bool:
    node, made = _place(slot, bucket, pool)
    _join(pool.nodes[node], added)
    number = np.int64(pool.lists[slot, NUMBER])
    if number >= 0:
        _follow(node, number, added, pool)
    elif pool.lists[slot, _BUCKETS] > pool.few and len(pool.windows) > 0:
        _begin_states(slot, pool)
    result: bool = made
    return result


@kernel(nogil=True)
def put_nodes(slots: Any, nodes: Any, pool: Pool, made: Any) -> None:
    """Put n buckets in, laid out as nodes; ``made``: where that took a new place."""
    for i in range(len(slots)):
        made[i] = _put(slots[i], nodes[i, BUCKET], nodes[i], pool)


@kernel(nogil=True)
def put_rows(
    first: int, slots: Any, time: Any, members: Any, amounts: Any, floor: int, pool: Pool, made: Any
) -> None:
    """Put the rows from ``first`` on in, whose groups' slots these are, where they are ``members`` (bool).

    :param floor: older event times (ms) are not visible
    """
    added = pool.room[0]
    for i in range(len(slots)):
        row = first + i
        made[i] = False
        if slots[i] >= 0 and members[i] and time[row] >= floor:
            _single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slots[i], time[row] // pool.length, added, pool)


@kernel(inline="always")
def _advance(state: Any, bucket: Any, nodes: Any) -> None:
    """Let the window begin with that bucket."""
    at = state[START]
    while at >= 0 and nodes[at, BUCKET] < bucket:
        state[_COUNT] -= nodes[at, COUNT]
        _subtract_at(state, _SUM, np.uint64(nodes[at, SUM]), nodes[at, SUM + 1])
        if state[_LEAST] == at:
            state[_LEAST] = -1
        if state[_GREATEST] == at:
            state[_GREATEST] = -1
        at = nodes[at, _NEXT]
    if at != state[START]:
        _begin_with(state, at)
    state[_FROM] = max(state[_FROM], bucket)


@kernel()
def _seek(at: Any, nodes: Any) -> Any:
    """The places, from that one on, of the least and the greatest value; of equal ones the newest."""
    least, greatest = at, at
    while at >= 0:
        if not _better(np.uint64(nodes[least, LEAST]), nodes[least, LEAST + 1], nodes[at], LEAST, 1):
            least = at
        if not _better(
            np.uint64(nodes[greatest, GREATEST]), nodes[greatest, GREATEST + 1], nodes[at], GREATEST, -1
        ):
            greatest = at
        at = nodes[at, _NEXT]
    return least, greatest


@kernel(inline="always")
def _copy(out: Any, at: int, source: Any, source_at: int) -> None:
    out[at], out[at + 1] = source[source_at], source[source_at + 1]


@kernel()
def _tell_edge(node: Any, nodes: Any, out: Any) -> None:
    """What the first bucket holds, part of which may be before the exact window."""
    out[O_EDGE] = nodes[node, COUNT]
    _copy(out, O_NEGATIVE, nodes[node], NEGATIVE)
    _copy(out, O_POSITIVE, nodes[node], SUM)
    _subtract_at(out, O_POSITIVE, np.uint64(nodes[node, NEGATIVE]), nodes[node, NEGATIVE + 1])


@kernel(inline="always")
def _in_order(state: Any, edge: Any, seeks: bool, nodes: Any, out: Any) -> None:
    """The window as it stands; ``edge``: the bucket that may hold too much, or NOTHING."""
    start = state[START]
    if start < 0:
        return
    out[O_COUNT] = state[_COUNT]
    _copy(out, O_SUM, state, _SUM)
    if seeks:
        if state[_LEAST] < 0 or state[_GREATEST] < 0:
            state[_LEAST], state[_GREATEST] = _seek(start, nodes)
        _copy(out, O_LEAST, nodes[state[_LEAST]], LEAST)
        _copy(out, O_GREATEST, nodes[state[_GREATEST]], GREATEST)
    if nodes[start, BUCKET] != edge:
        return
    _tell_edge(start, nodes, out)
    rest = nodes[start, _NEXT]
    if seeks and rest >= 0:
        if state[_REST_LEAST] < 0 or state[_REST_GREATEST] < 0:
            state[_REST_LEAST], state[_REST_GREATEST] = _seek(rest, nodes)
        out[O_REST] = 1
        _copy(out, O_REST_LEAST, nodes[state[_REST_LEAST]], LEAST)
        _copy(out, O_REST_GREATEST, nodes[state[_REST_GREATEST]], GREATEST)


@kernel(inline="always")
def _go_through(slot: Any, below: Any, bound: Any, edge: Any, rest: Any, pool: Pool, out: Any) -> None:
    """The group's buckets from ``bound`` on that are below that one, and what ``rest`` holds."""
    nodes, first = pool.nodes, np.int64(-1)
    node = np.int64(pool.lists[slot, _LAST])
    while node >= 0 and nodes[node, BUCKET] >= below:
        node = nodes[node, _PREVIOUS]
    while node >= 0 and nodes[node, BUCKET] >= bound:
        if nodes[node, BUCKET] == edge:
            first = node
        else:
            _join(rest, nodes[node])
        node = nodes[node, _PREVIOUS]
    if first >= 0:
        _tell_edge(first, nodes, out)
        out[O_REST] = 1 if rest[COUNT] > 0 else 0
        _copy(out, O_REST_LEAST, rest, LEAST)
        _copy(out, O_REST_GREATEST, rest, GREATEST)
        _join(rest, nodes[first])
    out[O_COUNT] = rest[COUNT]
    _copy(out, O_SUM, rest, SUM)
    _copy(out, O_LEAST, rest, LEAST)
    _copy(out, O_GREATEST, rest, GREATEST)


@kernel()
def _late(
    row: Any,
    slot: Any,
    bound: Any,
    edge: Any,
    floor: int,
    base: int,
    order: Any,
    members: Any,
    amounts: Any,
    pool: Pool,
    out: Any,
) -> None:
    """The window of a late row: the buckets before its own, and of its own what was accepted before and is no newer."""
    time = order.time
    bucket = time[row] // pool.length
    # all of the window but its first bucket, if that may hold too much; then that one
    added, rest = pool.room[0], pool.room[1]
    rest[:] = 0
    older = np.int64(row)
    while older >= base and time[older] >= max(bucket * pool.length, floor):
        if older <= row and members[older] >= 0:
            _single(amounts.low[older], amounts.high[older], added)
            _join(rest, added)
        older = np.int64(order.previous[older])
    _go_through(slot, bucket, bound, edge, rest, pool, out)


@kernel()
def evaluate(
    start: int,
    slots: Any,
    newest: Any,
    begin: int,
    floor: int,
    base: int,
    order: Any,
    members: Any,
    amounts: Any,
    pool: Pool,
    made: Any,
    out: Any,
) -> None:
    """Enter the rows from ``start`` on in their order, and tell each one's own windows.

    :param slots: the groups' slots here (-1: no group), by place among the rows
    :param newest: of each, the newest event time (ms) of its group before it, or NOTHING
    :param begin: older event times (ms) are not visible
    :param floor: nor are those of buckets below this one
    :param out: int64, rows × windows × OUT, noughts
    """
    nodes, added = pool.nodes, pool.room[0]
    for i in range(len(slots)):
        row, slot = start + i, np.int64(slots[i])
        made[i] = False
        if slot < 0:
            continue
        t = order.time[row]
        if members[row] >= 0 and t >= begin and t // pool.length >= floor:
            _single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slot, t // pool.length, added, pool)
        if pool.lists[slot, _BUCKETS] == 0:
            continue
        number = np.int64(pool.lists[slot, NUMBER])
        for k in range(len(pool.windows)):
            since = t - pool.windows[k]
            edge = since // pool.length
            bound = max(edge, floor)
            if bound != edge or edge * pool.length == since:
                edge = NOTHING
            if newest[i] != NOTHING and t < newest[i]:
                _late(row, slot, bound, edge, begin, base, order, members, amounts, pool, out[i, k])
            elif number < 0:
                pool.room[1, :] = 0
                _go_through(slot, ABOVE_ALL, bound, edge, pool.room[1], pool, out[i, k])
            else:
                state = pool.states[number, k]
                _advance(state, bound, nodes)
                _in_order(state, edge, pool.seeks, nodes, out[i, k])


@kernel()
def evict(floor: int, slots: int, pool: Pool, gone: Any) -> int:
    """Let go of all buckets below that one.

    :param gone: int32: for each the slot of its group
    :returns: how many they were
    """
    nodes, lists, meta, count = pool.nodes, pool.lists, pool.meta, 0
    for slot in range(slots):
        if lists[slot, _BUCKETS] == 0:
            continue
        node = np.int64(lists[slot, _FIRST])
        if nodes[node, BUCKET] >= floor:
            continue
        number = np.int64(lists[slot, NUMBER])
        for k in range(len(pool.windows) if number >= 0 else 0):
            _advance(pool.states[number, k], floor, nodes)
        while node >= 0 and nodes[node, BUCKET] < floor:
            newer = nodes[node, _NEXT]
            nodes[node, SLOT], nodes[node, _NEXT] = -1, meta[FREE]
            meta[FREE] = node
            meta[USED] -= 1
            lists[slot, _BUCKETS] -= 1
            gone[count] = slot
            count += 1
            node = newer
        lists[slot, _FIRST] = node
        if node >= 0:
            nodes[node, _PREVIOUS] = -1
            continue
        if number >= 0:
            pool.states[number, 0, 0] = meta[STATES_FREE]
            meta[STATES_FREE] = number
    return count


@kernel()
def recount(slots: int, pool: Pool) -> None:
    """Give all groups that have states new ones."""
    pool.meta[STATES_END], pool.meta[STATES_FREE] = 0, -1
    for slot in range(slots):
        if pool.lists[slot, _BUCKETS] > 0 and pool.lists[slot, NUMBER] >= 0:
            _begin_states(slot, pool)
