"""Running states: content of each window of a group with many buckets, as it ends with the newest transaction.

In event-time order a window only moves forward: what has left it is subtracted, and extremes are looked for again only
when the bucket that had one has left; O(1) amortised.
"""

from __future__ import annotations

import numpy as np

from tripline_engine.domain.buckets.bucket_layout import (
    BUCKET,
    COUNT,
    FIRST,
    GREATEST,
    LEAST,
    NEXT,
    NUMBER,
    O_COUNT,
    O_GREATEST,
    O_LEAST,
    O_REST,
    O_REST_GREATEST,
    O_REST_LEAST,
    O_SUM,
    STATES_END,
    STATES_FREE,
    SUM,
    Pool,
    add_at,
    better,
    copy,
    store_edge,
    subtract_at,
)
from tripline_engine.domain.memory.array_types import Int64Array, Offset, Slot, int64
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

# A window of a group: the bucket from which on it counts, its first node, count and sum, and the nodes of the extremes,
# and of those without the first bucket (-1: to be looked for).
_FROM, START, _COUNT, _SUM, _LEAST, _GREATEST, _REST_LEAST, _REST_GREATEST, STATE = 0, 1, 2, 3, 5, 6, 7, 8, 9


@kernel(inline="always")
def _clear(states: Int64Array) -> None:
    """Empty the windows of one group."""
    states[:, :] = 0
    for k in range(len(states)):
        states[k, _FROM] = MIN_TIME
        states[k, START] = -1
        states[k, _LEAST] = -1
        states[k, _GREATEST] = -1
        states[k, _REST_LEAST] = -1
        states[k, _REST_GREATEST] = -1


@kernel()
def begin_states(slot: Slot, pool: Pool) -> None:
    """Give the group states, of windows over all of its buckets."""
    meta, states = pool.meta, pool.states
    number = meta[STATES_FREE]
    if number >= 0:
        meta[STATES_FREE] = states[number, 0, 0]
    else:
        number = meta[STATES_END]
        meta[STATES_END] += 1
    pool.lists[slot, NUMBER] = number
    group_states = states[number]
    _clear(group_states)
    for k in range(len(group_states)):
        node = int64(pool.lists[slot, FIRST])
        group_states[k, START] = node
        while node >= 0:
            group_states[k, _COUNT] += pool.nodes[node, COUNT]
            add_at(group_states[k], _SUM, np.uint64(pool.nodes[node, SUM]), pool.nodes[node, SUM + 1])
            node = pool.nodes[node, NEXT]


@kernel(inline="always")
def _begin_with(state: Int64Array, node: Offset) -> None:
    state[START] = node
    state[_REST_LEAST], state[_REST_GREATEST] = -1, -1


@kernel(inline="always")
def _follow_extremes(
    state: Int64Array,
    least_at: Offset,
    greatest_at: Offset,
    node: Offset,
    added: Int64Array,
    nodes: Int64Array,
) -> None:
    least, greatest = state[least_at], state[greatest_at]
    if least >= 0 and better(np.uint64(added[LEAST]), added[LEAST + 1], nodes[least], LEAST, 1):
        state[least_at] = node
    if greatest >= 0 and better(
        np.uint64(added[GREATEST]), added[GREATEST + 1], nodes[greatest], GREATEST, -1
    ):
        state[greatest_at] = node


@kernel(inline="always")
def follow(node: Offset, number: Offset, added: Int64Array, pool: Pool) -> None:
    """Count what was added to the bucket (laid out as a node) into the group's windows."""
    nodes = pool.nodes
    for k in range(len(pool.windows)):
        state = pool.states[number, k]
        if nodes[node, BUCKET] < state[_FROM]:
            continue
        state[_COUNT] += added[COUNT]
        add_at(state, _SUM, np.uint64(added[SUM]), added[SUM + 1])
        if state[START] < 0 or nodes[node, BUCKET] < nodes[state[START], BUCKET]:
            _begin_with(state, node)
        _follow_extremes(state, _LEAST, _GREATEST, node, added, nodes)
        if node != state[START]:
            _follow_extremes(state, _REST_LEAST, _REST_GREATEST, node, added, nodes)


@kernel(inline="always")
def advance(state: Int64Array, bucket: int, nodes: Int64Array) -> None:
    """Move the window's beginning to that bucket."""
    node = state[START]
    while node >= 0 and nodes[node, BUCKET] < bucket:
        state[_COUNT] -= nodes[node, COUNT]
        subtract_at(state, _SUM, np.uint64(nodes[node, SUM]), nodes[node, SUM + 1])
        if state[_LEAST] == node:
            state[_LEAST] = -1
        if state[_GREATEST] == node:
            state[_GREATEST] = -1
        node = nodes[node, NEXT]
    if node != state[START]:
        _begin_with(state, node)
    state[_FROM] = max(state[_FROM], bucket)


@kernel()
def _seek(first: Offset, nodes: Int64Array) -> tuple[Offset, Offset]:
    """The nodes, from the first on, of the least and the greatest value; of equal ones the newest."""
    least, greatest, node = first, first, first
    while node >= 0:
        if not better(np.uint64(nodes[least, LEAST]), nodes[least, LEAST + 1], nodes[node], LEAST, 1):
            least = node
        if not better(
            np.uint64(nodes[greatest, GREATEST]), nodes[greatest, GREATEST + 1], nodes[node], GREATEST, -1
        ):
            greatest = node
        node = nodes[node, NEXT]
    return least, greatest


@kernel(inline="always")
def store_in_order(state: Int64Array, edge: int, seeks: bool, nodes: Int64Array, out: Int64Array) -> None:
    """Write the window as it stands; ``edge``: the bucket that may hold too much, or MIN_TIME."""
    start = state[START]
    if start < 0:
        return
    out[O_COUNT] = state[_COUNT]
    copy(out, O_SUM, state, _SUM)
    if seeks:
        if state[_LEAST] < 0 or state[_GREATEST] < 0:
            state[_LEAST], state[_GREATEST] = _seek(start, nodes)
        copy(out, O_LEAST, nodes[state[_LEAST]], LEAST)
        copy(out, O_GREATEST, nodes[state[_GREATEST]], GREATEST)
    if nodes[start, BUCKET] != edge:
        return
    store_edge(start, nodes, out)
    rest = nodes[start, NEXT]
    if seeks and rest >= 0:
        if state[_REST_LEAST] < 0 or state[_REST_GREATEST] < 0:
            state[_REST_LEAST], state[_REST_GREATEST] = _seek(rest, nodes)
        out[O_REST] = 1
        copy(out, O_REST_LEAST, nodes[state[_REST_LEAST]], LEAST)
        copy(out, O_REST_GREATEST, nodes[state[_REST_GREATEST]], GREATEST)


@kernel(inline="always")
def release(number: Offset, pool: Pool) -> None:
    """Release the states of the group with that number, which has no buckets left."""
    pool.states[number, 0, 0] = pool.meta[STATES_FREE]
    pool.meta[STATES_FREE] = number
