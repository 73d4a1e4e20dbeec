"""Grouping keys that put each shard into a Spark partition of its own.

Spark places a group by Murmur3 of its key modulo the number of partitions, so the keys 0 … N−1 would share
partitions. Instead shard s gets the smallest key that lands in partition s.
"""

from __future__ import annotations

from functools import cache
from itertools import count

_MASK = 0xFFFFFFFF
_SPARK_SEED = 42


def spark_hash(value: int) -> int:
    """Spark's `hash(int)`: Murmur3 x86 32 of the four bytes with seed 42, as a signed 32-bit integer."""
    k = value * 0xCC9E2D51 & _MASK
    k = (k << 15 | k >> 17) & _MASK
    k = k * 0x1B873593 & _MASK
    h = _SPARK_SEED ^ k
    h = (h << 13 | h >> 19) & _MASK
    h = (h * 5 + 0xE6546B64) & _MASK
    h ^= 4  # bytes hashed
    h ^= h >> 16
    h = h * 0x85EBCA6B & _MASK
    h ^= h >> 13
    h = h * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


@cache
def shard_keys(shards: int) -> tuple[int, ...]:
    """keys[s] is the grouping key of shard s; all differ, and Spark partition s of `shards` gets it."""
    keys: dict[int, int] = {}
    for key in count():
        keys.setdefault(spark_hash(key) % shards, key)
        if len(keys) == shards:
            return tuple(keys[shard] for shard in range(shards))
    raise AssertionError("count() doesn't end")
