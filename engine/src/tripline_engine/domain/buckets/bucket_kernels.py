"""Buckets of event time for every group of a population: number of transactions, their sum, their extremes.

Each group has a list of its buckets, oldest first. One with more than a few has for each window length a running state
(`running_states`); where there are few buckets, they are gone through. A late transaction goes through its window's
buckets, and for its own bucket through the transactions themselves.
"""

from __future__ import annotations

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
    BucketSource,
    Pool,
    Visible,
    copy,
    merge,
    single,
    store_edge,
)
from tripline_engine.domain.buckets.running_states import (
    advance,
    begin_states,
    follow,
    release,
    store_in_order,
)
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Millis,
    Offset,
    RowNumber,
    Slot,
    int64,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts


@kernel(inline="always")
def _new_node(pool: Pool) -> Offset:
    """A node that was free, with zeros."""
    meta = pool.meta
    node: Offset = meta[FREE]
    if node >= 0:
        meta[FREE] = pool.nodes[node, NEXT]
    else:
        node = meta[END]
        meta[END] += 1
    meta[USED] += 1
    pool.nodes[node, :] = 0
    return node


@kernel(inline="always")
def _find_or_make(slot: Slot, bucket: int, pool: Pool) -> tuple[Offset, bool]:
    """The node of the group's bucket of that number, and whether it is a new one."""
    nodes, lists = pool.nodes, pool.lists
    older, newer = int64(lists[slot, LAST] if lists[slot, BUCKETS] > 0 else -1), int64(-1)
    while older >= 0 and nodes[older, BUCKET] > bucket:
        newer, older = older, nodes[older, PREVIOUS]
    if older >= 0 and nodes[older, BUCKET] == bucket:
        return older, False
    node = _new_node(pool)
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
def _put(slot: Slot, bucket: int, added: Int64Array, pool: Pool) -> bool:
    """Merge what is ``added`` into the group's bucket; whether that is a new one."""
    node, made = _find_or_make(slot, bucket, pool)
    merge(pool.nodes[node], added)
    number = int64(pool.lists[slot, NUMBER])
    if number >= 0:
        follow(node, number, added, pool)
    elif pool.lists[slot, BUCKETS] > pool.few and len(pool.windows) > 0:
        begin_states(slot, pool)
    result: bool = made
    return result


@kernel(nogil=True)
def put_nodes(slots: Int32Array, nodes: Int64Array, pool: Pool, made: BoolArray) -> None:
    """Put n buckets in, laid out as nodes; ``made``: where that took a new node."""
    for i in range(len(slots)):
        made[i] = _put(slots[i], nodes[i, BUCKET], nodes[i], pool)


@kernel(nogil=True)
def put_rows(
    first: RowNumber,
    slots: Int32Array,
    time: Int64Array,
    members: BoolArray,
    amounts: Amounts,
    floor: Millis,
    pool: Pool,
    made: BoolArray,
) -> None:
    """Put the rows from ``first`` on in, whose groups' slots these are, where they are ``members``.

    :param floor: older event times are not visible
    """
    added = pool.scratch[0]
    for i in range(len(slots)):
        row = first + i
        made[i] = False
        if slots[i] >= 0 and members[i] and time[row] >= floor:
            single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slots[i], time[row] // pool.length, added, pool)


@kernel(inline="always")
def _walk_back(
    slot: Slot, below: int, bound: int, edge: int, rest: Int64Array, pool: Pool, out: Int64Array
) -> None:
    """Write a window of the group's buckets from ``bound`` on that are ``below`` that one, and of ``rest``."""
    nodes, first = pool.nodes, int64(-1)
    node = int64(pool.lists[slot, LAST])
    while node >= 0 and nodes[node, BUCKET] >= below:
        node = nodes[node, PREVIOUS]
    while node >= 0 and nodes[node, BUCKET] >= bound:
        if nodes[node, BUCKET] == edge:
            first = node
        else:
            merge(rest, nodes[node])
        node = nodes[node, PREVIOUS]
    if first >= 0:
        store_edge(first, nodes, out)
        out[O_REST] = 1 if rest[COUNT] > 0 else 0
        copy(out, O_REST_LEAST, rest, LEAST)
        copy(out, O_REST_GREATEST, rest, GREATEST)
        merge(rest, nodes[first])
    out[O_COUNT] = rest[COUNT]
    copy(out, O_SUM, rest, SUM)
    copy(out, O_LEAST, rest, LEAST)
    copy(out, O_GREATEST, rest, GREATEST)


@kernel()
def _late(
    row: RowNumber,
    slot: Slot,
    bound: int,
    edge: int,
    visible: Visible,
    source: BucketSource,
    pool: Pool,
    out: Int64Array,
) -> None:
    """Write a late row's window: the buckets before its own, and of its own the rows accepted before and no newer."""
    time, members, amounts = source.order.time, source.members, source.amounts
    bucket = time[row] // pool.length
    # all of the window but its first bucket, if that may hold too much; then that one
    added, rest = pool.scratch[0], pool.scratch[1]
    rest[:] = 0
    older = int64(row)
    while older >= visible.base and time[older] >= max(bucket * pool.length, visible.begin):
        if older <= row and members[older] >= 0:
            single(amounts.low[older], amounts.high[older], added)
            merge(rest, added)
        older = int64(source.order.previous[older])
    _walk_back(slot, bucket, bound, edge, rest, pool, out)


@kernel()
def evaluate(
    start: RowNumber,
    slots: Int32Array,
    newest: Int64Array,
    visible: Visible,
    source: BucketSource,
    pool: Pool,
    made: BoolArray,
    out: Int64Array,
) -> None:
    """Enter the rows from ``start`` on in their order, and write each one's own windows.

    :param slots: the groups' slots here (-1: no group), by place among the rows
    :param newest: of each, the newest event time (ms) of its group before it, or MIN_TIME
    :param made: where a row took a new node
    :param out: int64, rows × windows × OUT, zeros
    """
    nodes, added, floor = pool.nodes, pool.scratch[0], visible.floor
    members, amounts, time = source.members, source.amounts, source.order.time
    for i in range(len(slots)):
        row, slot = start + i, int64(slots[i])
        made[i] = False
        if slot < 0:
            continue
        t = time[row]
        if members[row] >= 0 and t >= visible.begin and t // pool.length >= floor:
            single(amounts.low[row], amounts.high[row], added)
            made[i] = _put(slot, t // pool.length, added, pool)
        if pool.lists[slot, BUCKETS] == 0:
            continue
        number = int64(pool.lists[slot, NUMBER])
        for k in range(len(pool.windows)):
            since = t - pool.windows[k]
            edge = since // pool.length
            bound = max(edge, floor)
            if bound != edge or edge * pool.length == since:
                edge = MIN_TIME
            if newest[i] != MIN_TIME and t < newest[i]:
                _late(row, slot, bound, edge, visible, source, pool, out[i, k])
            elif number < 0:
                pool.scratch[1, :] = 0
                _walk_back(slot, ABOVE_ALL, bound, edge, pool.scratch[1], pool, out[i, k])
            else:
                state = pool.states[number, k]
                advance(state, bound, nodes)
                store_in_order(state, edge, pool.seeks, nodes, out[i, k])


@kernel()
def expire(floor: int, slots: int, pool: Pool, expired: Int32Array) -> int:
    """Remove all buckets below that one; the number of them.

    :param slots: all slots of groups lie below this number
    :param expired: for each bucket the slot of its group
    """
    nodes, lists, meta, count = pool.nodes, pool.lists, pool.meta, 0
    for slot in range(slots):
        if lists[slot, BUCKETS] == 0:
            continue
        node = int64(lists[slot, FIRST])
        if nodes[node, BUCKET] >= floor:
            continue
        number = int64(lists[slot, NUMBER])
        for k in range(len(pool.windows) if number >= 0 else 0):
            advance(pool.states[number, k], floor, nodes)
        while node >= 0 and nodes[node, BUCKET] < floor:
            newer = nodes[node, NEXT]
            nodes[node, SLOT], nodes[node, NEXT] = -1, meta[FREE]
            meta[FREE] = node
            meta[USED] -= 1
            lists[slot, BUCKETS] -= 1
            expired[count] = slot
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
def rebuild_states(slots: int, pool: Pool) -> None:
    """Renew the states of all groups that have some."""
    pool.meta[STATES_END], pool.meta[STATES_FREE] = 0, -1
    for slot in range(slots):
        if pool.lists[slot, BUCKETS] > 0 and pool.lists[slot, NUMBER] >= 0:
            begin_states(slot, pool)
