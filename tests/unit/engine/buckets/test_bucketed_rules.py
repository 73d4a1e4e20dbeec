"""Bucketed windows: what they cost and leave behind. What they mean is in the comparison with the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import DictLog, Engine
from tripline_engine.domain.buckets.bucket_layout import (
    BUCKET,
    COUNT,
    GREATEST,
    LEAST,
    NODE,
    NUMBER,
    STATES_END,
    SUM,
)
from tripline_engine.domain.buckets.bucket_window import BucketPool, Buckets
from tripline_engine.domain.buckets.running_states import START
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.window_plan import BucketDemand
from tripline_engine.domain.state_log.bucket_log import BucketLog, together
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.transactions.columns import MIN_TIME

T = 1_700_000_040_000
MINUTE = 60_000
DAY = 24 * 60
PAYEES = 5
# Lateness and disorder, for which transactions stand singly besides a bucket.
SINGLY = 16


def minute(number: int) -> MicroBatch:
    """Six payments in each group within that minute, after a tick."""
    start = T + number * MINUTE
    records = []
    for n in range(6 * PAYEES):
        offset, time = number * 6 * PAYEES + n, start + n * 2000
        value = (
            f'{{"transactionId":"t{offset}","eventTime":{time},"payeeId":"p{n % PAYEES}","beneficiaryId":"b",'
            f'"paymentAmount":"{n % 3 + 1}","paymentType":"CSH"}}'
        )
        records.append(Record(0, offset, time, value.encode()))
    return MicroBatch((), (b'{"clock":%d}' % start,), tuple(records))


def day_rule() -> MicroBatch:
    rule = draft("SUM", ">", "1000000000", by=("payeeId",), seconds=DAY * 60, bucket=60)
    return MicroBatch((Registry().publish(1, rule, 0, 0),), (b'{"clock":%d}' % T,), ())


def buckets_in(engine: Engine) -> int:
    """How many buckets are kept of transactions that have gone."""
    log = engine.logs[0]
    logs = Head.read(log, engine.config.event_type).anchors["payeeId"].buckets
    return sum(len(together(logs.read(name, log), MINUTE)) for name in logs.sets)


@pytest.mark.slow
@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
def test_transactions_go_and_their_buckets_stay(mapped: bool, tmp_path: Path) -> None:
    engine = Engine(1, tmp_path if mapped else None)
    engine.take(day_rule())
    for number in range(120):
        engine.take(minute(number))
        engine.change_worker()
    # transactions of the last minutes on the one anchor that has a rule, and buckets of all the others
    rows = [6 * PAYEES * (SINGLY + 1)]
    assert engine.history_rows() == rows
    assert buckets_in(engine) == PAYEES * (120 - SINGLY - 1)
    assert len(engine.logs[0].committed) < 60
    engine.forget()
    engine.take(minute(120))
    assert engine.history_rows() == rows


def test_what_every_window_has_passed_goes_without_any_transaction() -> None:
    engine = Engine(1)
    engine.take(day_rule())
    empty = engine.logs[0].bytes
    for number in range(60):
        engine.take(minute(number))
    # a bucket goes when the window of the oldest transaction that may still come has passed it
    engine.take(MicroBatch((), (b'{"clock":%d}' % (T + (DAY + 15) * MINUTE),), ()))
    assert (engine.history_rows(), buckets_in(engine)) == ([0], 60 * PAYEES)
    engine.take(MicroBatch((), (b'{"clock":%d}' % (T + (DAY + 70) * MINUTE),), ()))
    assert 0 < buckets_in(engine) < 30 * PAYEES
    engine.take(MicroBatch((), (b'{"clock":%d}' % (T + (DAY + 76) * MINUTE),), ()))
    assert buckets_in(engine) == 0
    assert engine.logs[0].bytes < empty + 200


def buckets(group: int, numbers: list[int], amount: int) -> Buckets:
    nodes = np.zeros((len(numbers), NODE), np.int64)
    nodes[:, BUCKET], nodes[:, COUNT] = numbers, 1
    nodes[:, SUM] = nodes[:, LEAST] = nodes[:, GREATEST] = amount
    groups = np.full(len(numbers), group, np.uint64)
    return Buckets(groups, groups, nodes)


def content(kept: Buckets) -> list[tuple[int, int, int, int, int, int]]:
    columns = (BUCKET, COUNT, SUM, LEAST, GREATEST)
    rows = zip(kept.low.tolist(), kept.nodes[:, columns].tolist(), strict=True)
    return sorted((low, *row) for low, row in rows)


def test_runs_are_merged_and_say_the_same() -> None:
    state, log = DictLog(), BucketLog("payeeId")
    log.hold({"s": 0}, 0, state)
    for batch in range(40):
        log.fold("s", buckets(batch % 2, [1, 2], batch + 1), batch + 1, state)
        log.tidy("s", 0, MINUTE, state)
    assert len(list(state.items())) == len(log.sets["s"].runs) == 2 + 8
    odd, even = sum(range(1, 41, 2)), sum(range(2, 41, 2))
    expected = [
        (0, 1, 20, odd, 1, 39),
        (0, 2, 20, odd, 1, 39),
        (1, 1, 20, even, 2, 40),
        (1, 2, 20, even, 2, 40),
    ]
    assert content(together(log.read("s", state), MINUTE)) == expected
    again = BucketLog("payeeId", log.to_json())
    assert content(together(again.read("s", state), MINUTE)) == expected
    assert again.folded == 40


def test_buckets_below_the_floor_are_left_out_of_merges_and_whole_runs_go() -> None:
    state, log = DictLog(), BucketLog("payeeId")
    log.hold({"s": 0}, 0, state)
    for batch in range(17):
        log.fold("s", buckets(1, [1, batch], 1), batch, state)
    log.tidy("s", 5, MINUTE, state)
    assert [number for _, number, *_ in content(together(log.read("s", state), MINUTE))] == [1, *range(5, 17)]
    log.tidy("s", 100, MINUTE, state)
    assert (list(state.items()), log.sets["s"].runs) == ([], [])


def test_a_set_that_begins_elsewhere_is_another_one() -> None:
    state, log = DictLog(), BucketLog("payeeId")
    log.hold({"s": 7}, 3, state)
    log.fold("s", buckets(1, [1], 1), 9, state)
    log.hold({"s": 7}, 5, state)
    assert len(together(log.read("s", state), MINUTE)) == 1
    log.hold({"s": 8}, 5, state)
    assert (len(together(log.read("s", state), MINUTE)), log.folded, list(state.items())) == (0, 5, [])
    log.hold({}, 5, state)
    assert log.folded is None


def test_a_missing_run_is_said_so() -> None:
    state, log = DictLog(), BucketLog("payeeId")
    log.hold({"s": 0}, 0, state)
    log.fold("s", buckets(1, [1], 1), 1, state)
    state.remove("buckets/payeeId/0/0")
    with pytest.raises(LookupError, match="buckets/payeeId/0/0 is missing from the state log"):
        list(log.read("s", state))


def test_a_group_that_lost_all_its_buckets_begins_anew() -> None:
    layout = BucketDemand((10 * MINUTE,), seeks=True)
    used, fresh = (BucketPool(HeapArena(), "s", MINUTE, layout) for _ in range(2))
    used.put(buckets(1, [1, 2, 3, 4, 5, 6], 5))
    used.expire(10)
    # whatever a group without buckets has left behind is nothing to the next one that gets its place
    used.pool.states[:, :, 1:] = 77
    for pool in (used, fresh):
        pool.put(buckets(2, [11, 12, 13, 14, 15], 6))
    assert window_of(used, 2) == window_of(fresh, 2)
    assert states(used) == states(fresh) == 1


def test_a_group_with_few_buckets_has_no_states() -> None:
    pool = BucketPool(HeapArena(), "s", MINUTE, BucketDemand((10 * MINUTE,), seeks=True))
    for group in range(1_000):
        pool.put(buckets(group, [1, 2, 3, 4], 5))
    assert (pool.used, states(pool)) == (4_000, 0)
    pool.put(buckets(7, [5], 5))
    assert states(pool) == 1
    pool.relayout(BucketDemand((10 * MINUTE, 20 * MINUTE), seeks=True))
    assert window_of(pool, 7)[:3] == [1, MIN_TIME, 5]


def states(pool: BucketPool) -> int:
    """How many groups' windows have been kept at once."""
    return int(pool.pool.meta[STATES_END])


def window_of(pool: BucketPool, group: int) -> list[int]:
    """The first window of a group: the bucket with which it begins, and all that it holds besides."""
    key = np.array([group], np.uint64)
    number = pool.pool.lists[pool.groups.find(key, key)[0], NUMBER]
    state = pool.pool.states[number, 0]
    first, rest = state[START], np.delete(state, START)
    return [int(pool.pool.nodes[first, BUCKET]), *rest.tolist()]


def burst(first: int, count: int, payees: int, time: int) -> MicroBatch:
    """Many payments of few or many payers at about one moment."""
    records = []
    for n in range(first, first + count):
        value = (
            f'{{"transactionId":"t{n}","eventTime":{time + n % 1000},"payeeId":"p{n % payees}","beneficiaryId":"b",'
            f'"paymentAmount":"1","paymentType":"CSH"}}'
        )
        records.append(Record(0, n, time + n % 1000, value.encode()))
    return MicroBatch((), (), tuple(records))


def test_many_payments_in_few_buckets_take_the_room_of_few_buckets() -> None:
    engine = Engine(1)
    engine.take(day_rule())
    engine.take(burst(0, 40_000, PAYEES, T))
    for number in (1, 2, 3):
        engine.take(MicroBatch((), (b'{"clock":%d}' % (T + number * MINUTE),), ()))
    # arrays far larger than what they hold would be built again at every tick
    assert engine.counters["shrinks"] == 0


@pytest.mark.parametrize("payees", [255, 256])
def test_a_voided_payment_of_the_last_group_that_there_is_room_for(payees: int) -> None:
    engine, registry = Engine(1), Registry()
    rule = draft("COUNT", ">", "0", by=("payeeId",), seconds=3600, bucket=60, firing="crossing")
    engine.take(MicroBatch((registry.publish(1, rule, 0, 0),), (b'{"clock":%d}' % T,), ()))
    for start in range(0, payees, 17):
        engine.take(burst(start, min(17, payees - start), payees, T))
    for n in (payees - 1, payees - 2):
        engine.take(MicroBatch((registry.void(f"t{n}", T + n % 1000),), (), ()))
    engine.take(burst(payees, payees, payees, T + 5000))
    # each group has crossed once; what a voided one has left as record stays
    assert len(engine.alerts()) == payees
