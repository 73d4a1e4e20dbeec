"""A worker's garbage is found, and what lasts is not looked through again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.unit.engine.spark.rows.test_packing import batch, pack, payment
from tripline_engine.spark.rows import gc_freeze
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
def own_heap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What this process holds otherwise is set aside, and nothing is collected by itself."""
    gc.collect()
    gc.freeze()
    gc.disable()
    Knot.alive = 0
    monkeypatch.setattr(gc_freeze, "MANY", 1_000)
    monkeypatch.setattr(gc_freeze, "TIMES", 5)
    yield
    gc.enable()


def task(own: GcFreezer, lasting: int) -> list[list[int]]:
    """A task that leaves a knot behind, and so many objects that last; then Spark's worker collects garbage."""
    knot = Knot()
    found: list[list[int]] = [[] for _ in range(lasting)]
    own.task_done()
    del knot
    gc.collect()
    return found


def test_nothing_is_set_aside_for_little() -> None:
    own, before = GcFreezer(), gc.get_freeze_count()
    kept = [task(own, 10) for _ in range(20)]
    assert len(kept) == 20
    assert Knot.alive == 0
    assert gc.get_freeze_count() <= before


def test_much_is_set_aside_and_what_is_lost_by_that_is_found_again() -> None:
    own, kept = GcFreezer(), []
    most = 0
    for _ in range(23):
        kept.append(task(own, 1_500))
        assert len(gc.get_objects()) < 1_000
        most = max(most, Knot.alive)
    # each time what the task had of its own is lost, until all is looked through
    assert 1 < most <= 5
    assert Knot.alive < 5
    assert len(kept) == 23


def test_packing_loses_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one shard it is done in the middle of the task that judges."""
    monkeypatch.setattr(gc_freeze, "MANY", 100_000)
    records = batch([(0, 7, 100, payment(1))])
    # kernels are loaded
    pack(1, records)
    gc.freeze()
    for _ in range(5):
        knot = Knot()
        assert pack(1, records)
        del knot
    gc.collect()
    assert Knot.alive == 0
