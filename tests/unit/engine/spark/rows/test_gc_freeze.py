"""`gc.freeze` in workers: garbage is collected, and long-lived objects are not traversed again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.unit.engine.spark.support.raw_records import batch, pack, payment
from tripline_engine.spark.rows.gc_freeze import GcFreezer


class Knot:
    """Holds itself: only the collector finds it."""

    alive = 0

    def __init__(self) -> None:
        self.itself = self
        Knot.alive += 1

    def __del__(self) -> None:
        Knot.alive -= 1


@pytest.fixture(autouse=True)
def empty_heap() -> Iterator[None]:
    """Freezes all other objects of this process; no automatic collection during a test."""
    gc.collect()
    gc.freeze()
    gc.disable()
    Knot.alive = 0
    yield
    gc.enable()


def freezer() -> GcFreezer:
    return GcFreezer(min_objects=1_000, freezes_per_full_collection=5)


def task(freezer: GcFreezer, long_lived: int) -> list[list[int]]:
    """A task that leaves a knot behind and returns `long_lived` objects; then Spark's worker collects garbage."""
    knot = Knot()
    objects: list[list[int]] = [[] for _ in range(long_lived)]
    freezer.task_done()
    del knot
    gc.collect()
    return objects


def test_nothing_is_set_aside_for_little() -> None:
    few, before = freezer(), gc.get_freeze_count()
    kept = [task(few, 10) for _ in range(20)]
    assert len(kept) == 20
    assert Knot.alive == 0
    assert gc.get_freeze_count() <= before


def test_much_is_set_aside_and_what_is_lost_by_that_is_found_again() -> None:
    many, kept = freezer(), []
    most = 0
    for _ in range(23):
        kept.append(task(many, 1_500))
        assert len(gc.get_objects()) < 1_000
        most = max(most, Knot.alive)
    # each time what the task had of its own is lost, until all is looked through
    assert 1 < most <= 5
    assert Knot.alive < 5
    assert len(kept) == 23


def test_packing_loses_nothing_either() -> None:
    """With one shard it is done in the middle of the task that judges."""
    high = GcFreezer(min_objects=100_000)
    records = batch([(0, 7, 100, payment(1))])
    # kernels are loaded
    pack(1, records, freezer=high)
    gc.freeze()
    for _ in range(5):
        knot = Knot()
        assert pack(1, records, freezer=high)
        del knot
    gc.collect()
    assert Knot.alive == 0
