"""Running states: what each window of a group with many buckets holds, as it ends with the group's newest transaction.

In event-time order a window only moves forward: what has left it is subtracted, and extremes are looked for again only
when the bucket that had one has left; O(1) amortised.
"""

from __future__ import annotations

from typing import Any

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
    subtract_at,
    tell_edge,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME

# A window of a group: from which bucket on it counts, the first place there, count and sum, and the places of the
# extremes, and of those without the first bucket (-1: to be looked for).
_FROM, START, _COUNT, _SUM, _LEAST, _GREATEST, _REST_LEAST, _REST_GREATEST, STATE = 0, 1, 2, 3, 5, 6, 7, 8, 9


@kernel(inline="always")
def _blank(states: Any) -> None:
    """Let the windows of one group hold nothing."""
    states[:, :] = 0
    for k in range(len(states)):
        states[k, _FROM] = MIN_TIME
        states[k, START] = -1
        states[k, _LEAST] = -1
        states[k, _GREATEST] = -1
        states[k, _REST_LEAST] = -1
        states[k, _REST_GREATEST] = -1


@kernel()
def begin_states(slot: Any, pool: Pool) -> None:
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
        node = np.int64(pool.lists[slot, FIRST])
        own[k, START] = node
        while node >= 0:
            own[k, _COUNT] += pool.nodes[node, COUNT]
            add_at(own[k], _SUM, np.uint64(pool.nodes[node, SUM]), pool.nodes[node, SUM + 1])
            node = pool.nodes[node, NEXT]


@kernel(inline="always")
def _begin_with(state: Any, node: Any) -> None:
    state[START] = node
    state[_REST_LEAST], state[_REST_GREATEST] = -1, -1


@kernel(inline="always")
def _follow_extremes(state: Any, least_at: int, greatest_at: int, node: Any, added: Any, nodes: Any) -> None:
    least, greatest = state[least_at], state[greatest_at]
    if least >= 0 and better(np.uint64(added[LEAST]), added[LEAST + 1], nodes[least], LEAST, 1):
        state[least_at] = node
    if greatest >= 0 and better(
        np.uint64(added[GREATEST]), added[GREATEST + 1], nodes[greatest], GREATEST, -1
    ):
        state[greatest_at] = node


@kernel(inline="always")
def follow(node: Any, number: Any, added: Any, pool: Pool) -> None:
    """Count what was added to the bucket (laid out as one) into the group's windows."""
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
def advance(state: Any, bucket: Any, nodes: Any) -> None:
    """Let the window begin with that bucket."""
    at = state[START]
    while at >= 0 and nodes[at, BUCKET] < bucket:
        state[_COUNT] -= nodes[at, COUNT]
        subtract_at(state, _SUM, np.uint64(nodes[at, SUM]), nodes[at, SUM + 1])
        if state[_LEAST] == at:
            state[_LEAST] = -1
        if state[_GREATEST] == at:
            state[_GREATEST] = -1
        at = nodes[at, NEXT]
    if at != state[START]:
        _begin_with(state, at)
    state[_FROM] = max(state[_FROM], bucket)


@kernel()
def _seek(at: Any, nodes: Any) -> Any:
    """The places, from that one on, of the least and the greatest value; of equal ones the newest."""
    least, greatest = at, at
    while at >= 0:
        if not better(np.uint64(nodes[least, LEAST]), nodes[least, LEAST + 1], nodes[at], LEAST, 1):
            least = at
        if not better(
            np.uint64(nodes[greatest, GREATEST]), nodes[greatest, GREATEST + 1], nodes[at], GREATEST, -1
        ):
            greatest = at
        at = nodes[at, NEXT]
    return least, greatest


@kernel(inline="always")
def in_order(state: Any, edge: Any, seeks: bool, nodes: Any, out: Any) -> None:
    """The window as it stands; ``edge``: the bucket that may hold too much, or MIN_TIME."""
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
    tell_edge(start, nodes, out)
    rest = nodes[start, NEXT]
    if seeks and rest >= 0:
        if state[_REST_LEAST] < 0 or state[_REST_GREATEST] < 0:
            state[_REST_LEAST], state[_REST_GREATEST] = _seek(rest, nodes)
        out[O_REST] = 1
        copy(out, O_REST_LEAST, nodes[state[_REST_LEAST]], LEAST)
        copy(out, O_REST_GREATEST, nodes[state[_REST_GREATEST]], GREATEST)


@kernel(inline="always")
def release(number: Any, pool: Pool) -> None:
    """The group with that number has no buckets left."""
    pool.states[number, 0, 0] = pool.meta[STATES_FREE]
    pool.meta[STATES_FREE] = number
