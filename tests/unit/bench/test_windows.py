"""The benchmark's own count of windows against one that is too simple to be wrong."""

from __future__ import annotations

import numpy as np
import pytest

from bench.independent.windows import Held, group_codes, held
from bench.workload.workload import Column


def slow(
    code: Column, time: Column, rank: Column, cents: Column, asked: Column, window_ms: int, bucket_ms: int
) -> Held:
    """Sections 3 and 7 of the specification, read aloud."""
    totals, counts, largest = [], [], []
    for e in asked.tolist():
        since = (time[e] - window_ms) // bucket_ms * bucket_ms
        inside = [
            int(cents[x])
            for x in range(len(code))
            if code[x] == code[e] and rank[x] <= rank[e] and since <= time[x] <= time[e]
        ]
        totals.append(sum(inside))
        counts.append(len(inside))
        largest.append(max(inside))
    return Held(np.array(totals), np.array(counts), np.array(largest))


@pytest.mark.parametrize("seed", range(20))
# an exact window begins where its bucket of a millisecond does
@pytest.mark.parametrize(("bucket_ms", "slow_bucket_ms"), [(0, 1), (5, 5), (7, 7)])
def test_windows_are_those_of_the_specification(seed: int, bucket_ms: int, slow_bucket_ms: int) -> None:
    chance = np.random.default_rng(seed)
    count = 120
    # times that collide, and an order of acceptance that is not that of time
    time = np.sort(chance.integers(0, 60, count)) + chance.integers(0, 8, count)
    rank = np.argsort(np.argsort(np.arange(count) + chance.integers(0, 10, count), kind="stable"))
    code, cents = chance.integers(0, 3, count), chance.integers(-50, 50, count)
    asked = np.arange(40, count)
    windows = held(code, time, rank, cents, asked, 12, with_largest=True, bucket_ms=bucket_ms)
    wanted = slow(code, time, rank, cents, asked, 12, slow_bucket_ms)
    assert windows.total.tolist() == wanted.total.tolist()
    assert windows.count.tolist() == wanted.count.tolist()
    assert windows.largest.tolist() == wanted.largest.tolist()


def test_both_ends_of_a_window_are_in_it() -> None:
    time = np.array([0, 1, 10, 11])
    zero, rank, cents = np.zeros(4, np.int64), np.arange(4), np.array([1, 10, 100, 1000])
    windows = held(zero, time, rank, cents, np.array([2, 3]), 10, with_largest=False)
    assert windows.total.tolist() == [111, 1110]


def test_groups_are_equal_where_all_fields_are() -> None:
    codes = group_codes(np.array([1, 1, 2, 1]), np.array([5, 6, 5, 5]), of=4)
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 3
