"""Buckets of event time for every group of a population: how many transactions, their sum, their extremes.

Each group has a list of its buckets, oldest first. One with more than a few has for each window length a running state
(`bucket_states`); where there are few buckets, they are gone through. A late transaction goes through its window's
buckets, and for its own bucket through the transactions themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tripline_engine.domain.buckets.bucket_layout import (
    ABOVE_ALL,
    BUCKET,
    BUCKETS,
    COUNT,
    END,
    FIRST,
    FREE,
    GREATEST,
    LAST,
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
    PREVIOUS,
    SLOT,
    STATES_END,
    STATES_FREE,
    SUM,
    USED,
    Pool,
    copy,
    join,
    single,
    tell_edge,
)
from tripline_engine.domain.buckets.running_states import advance, begin_states, follow, in_order, release
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME


@kernel(inline="always")
def _take(pool: Pool) -> Any:
    """A free place."""
    meta = pool.meta
    if meta[FREE] >= 0:
        node = meta[FREE]
        meta[FREE] = pool.nodes[node, NEXT]
    else:
        node = meta[END]
        meta[END] += 1
    meta[USED] += 1
    pool.nodes[node, :] = 0
    return node


@kernel(inline="always")
def _place(slot: Any, bucket: Any, pool: Pool) -> Any:
    """The group's bucket of that number, and whether it is a new one."""
    nodes, lists = pool.nodes, pool.lists
    older, newer = np.int64(lists[slot, LAST] if lists[slot, BUCKETS] > 0 else -1), np.int64(-1)
    while older >= 0 and nodes[older, BUCKET] > bucket:
        newer, older = older, nodes[older, PREVIOUS]
    if older >= 0 and nodes[older, BUCKET] == bucket:
        return older, False
    node = _take(pool)
    nodes[node, BUCKET], nodes[node, SLOT] = bucket, slot
    nodes[node, PREVIOUS], nodes[node, NEXT] = older, newer
    if lists[slot, BUCKETS] == 0:
        lists[slot, NUMBER] = -1
    lists[slot, BUCKETS] += 1
    if older >= 0:
        nodes[older, NEXT] = node
    else:
        lists[slot, FIRST] = node
    if newer >= 0:
        nodes[newer, PREVIOUS] = node
    else:
        lists[slot, LAST] = node
    return node, True


@kernel(inline="always")
def _put(slot: Any, bucket: Any, added: Any, pool: Pool) -> bool:
    node, made = _place(slot, bucket, pool)
    join(pool.nodes[node], added)
    number = np.int64(pool.lists[slot, NUMBER])
    if number >= 0:
        follow(node, number, added, pool)
    elif pool.lists[slot, BUCKETS] > pool.few and len(pool.windows) > 0:
        begin_states(slot, pool)
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
            single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slots[i], time[row] // pool.length, added, pool)


@kernel(inline="always")
def _go_through(slot: Any, below: Any, bound: Any, edge: Any, rest: Any, pool: Pool, out: Any) -> None:
    """The group's buckets from ``bound`` on that are below that one, and what ``rest`` holds."""
    nodes, first = pool.nodes, np.int64(-1)
    node = np.int64(pool.lists[slot, LAST])
    while node >= 0 and nodes[node, BUCKET] >= below:
        node = nodes[node, PREVIOUS]
    while node >= 0 and nodes[node, BUCKET] >= bound:
        if nodes[node, BUCKET] == edge:
            first = node
        else:
            join(rest, nodes[node])
        node = nodes[node, PREVIOUS]
    if first >= 0:
        tell_edge(first, nodes, out)
        out[O_REST] = 1 if rest[COUNT] > 0 else 0
        copy(out, O_REST_LEAST, rest, LEAST)
        copy(out, O_REST_GREATEST, rest, GREATEST)
        join(rest, nodes[first])
    out[O_COUNT] = rest[COUNT]
    copy(out, O_SUM, rest, SUM)
    copy(out, O_LEAST, rest, LEAST)
    copy(out, O_GREATEST, rest, GREATEST)


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
            single(amounts.low[older], amounts.high[older], added)
            join(rest, added)
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
    :param newest: of each, the newest event time (ms) of its group before it, or MIN_TIME
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
            single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slot, t // pool.length, added, pool)
        if pool.lists[slot, BUCKETS] == 0:
            continue
        number = np.int64(pool.lists[slot, NUMBER])
        for k in range(len(pool.windows)):
            since = t - pool.windows[k]
            edge = since // pool.length
            bound = max(edge, floor)
            if bound != edge or edge * pool.length == since:
                edge = MIN_TIME
            if newest[i] != MIN_TIME and t < newest[i]:
                _late(row, slot, bound, edge, begin, base, order, members, amounts, pool, out[i, k])
            elif number < 0:
                pool.room[1, :] = 0
                _go_through(slot, ABOVE_ALL, bound, edge, pool.room[1], pool, out[i, k])
            else:
                state = pool.states[number, k]
                advance(state, bound, nodes)
                in_order(state, edge, pool.seeks, nodes, out[i, k])


@kernel()
def evict(floor: int, slots: int, pool: Pool, gone: Any) -> int:
    """Let go of all buckets below that one.

    :param gone: int32: for each the slot of its group
    :returns: how many they were
    """
    nodes, lists, meta, count = pool.nodes, pool.lists, pool.meta, 0
    for slot in range(slots):
        if lists[slot, BUCKETS] == 0:
            continue
        node = np.int64(lists[slot, FIRST])
        if nodes[node, BUCKET] >= floor:
            continue
        number = np.int64(lists[slot, NUMBER])
        for k in range(len(pool.windows) if number >= 0 else 0):
            advance(pool.states[number, k], floor, nodes)
        while node >= 0 and nodes[node, BUCKET] < floor:
            newer = nodes[node, NEXT]
            nodes[node, SLOT], nodes[node, NEXT] = -1, meta[FREE]
            meta[FREE] = node
            meta[USED] -= 1
            lists[slot, BUCKETS] -= 1
            gone[count] = slot
            count += 1
            node = newer
        lists[slot, FIRST] = node
        if node >= 0:
            nodes[node, PREVIOUS] = -1
            continue
        if number >= 0:
            release(number, pool)
    return count


@kernel()
def recount(slots: int, pool: Pool) -> None:
    """Give all groups that have states new ones."""
    pool.meta[STATES_END], pool.meta[STATES_FREE] = 0, -1
    for slot in range(slots):
        if pool.lists[slot, BUCKETS] > 0 and pool.lists[slot, NUMBER] >= 0:
            begin_states(slot, pool)
