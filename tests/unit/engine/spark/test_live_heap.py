"""What lives in the driver's heap, asked every now and then."""

from __future__ import annotations

from tripline_engine.spark.live_heap import LiveHeap


class Pool:
    """Of the JVM: what its last whole collection has left."""

    def __init__(self) -> None:
        self.left = self.asked = 0

    def getCollectionUsage(self) -> Pool:  # Java's names
        self.asked += 1
        return self

    def getUsed(self) -> int:
        return self.left


def test_it_is_told_what_a_collection_has_left() -> None:
    pool, told, now = Pool(), list[int](), [100.0]
    heap = LiveHeap(pool, told.append, lambda: now[0])
    heap.look()
    pool.left, now[0] = 50 << 20, 110.0
    heap.look()
    assert told == [0, 50 << 20]


def test_micro_batches_between_ask_nothing() -> None:
    pool, told, now = Pool(), list[int](), [100.0]
    heap = LiveHeap(pool, told.append, lambda: now[0])
    for tick in range(200):
        now[0] = 100 + tick / 10
        heap.look()
    assert pool.asked == len(told) == 2
