"""Parallel work: everything is done, in an order that dependencies allow, and errors come through."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from tripline_engine.domain.memory.parallel import PARALLEL_ROWS, Work, run_parallel

# One piece of work waits so long for another, which takes microseconds, before the test fails.
PATIENCE_SECONDS = 5


@pytest.mark.parametrize("rows", [0, PARALLEL_ROWS])
def test_all_work_is_done(rows: int) -> None:
    done: list[int] = []
    run_parallel([lambda: done.append(1), lambda: done.append(2), lambda: done.append(3)], rows)
    assert sorted(done) == [1, 2, 3]


def test_work_on_few_rows_is_done_in_order_in_this_thread() -> None:
    done: list[tuple[int, int]] = []
    work = [lambda n=n: done.append((n, threading.get_ident())) for n in range(5)]
    run_parallel(work, PARALLEL_ROWS - 1)
    assert done == [(n, threading.get_ident()) for n in range(5)]


def test_work_on_many_rows_runs_at_the_same_time() -> None:
    """Each of two pieces ends only when the other has begun."""
    begun = {"one": threading.Event(), "other": threading.Event()}
    met: dict[str, bool] = {}

    def meet(name: str, partner: str) -> None:
        begun[name].set()
        met[name] = begun[partner].wait(PATIENCE_SECONDS)

    run_parallel([partial(meet, "one", "other"), partial(meet, "other", "one")], PARALLEL_ROWS, threads=2)
    assert met["one"], "the second piece of work did not begin while the first was running"
    assert met["other"]


def test_one_thread_does_one_piece_at_a_time() -> None:
    """What the test above would say of work that is not parallel, at once."""
    running, overlaps = threading.Lock(), list[bool]()

    def work() -> None:
        overlaps.append(not running.acquire(blocking=False))
        running.release()

    run_parallel([partial(work), partial(work)], PARALLEL_ROWS, threads=1)
    assert overlaps == [False, False]


@pytest.mark.parametrize("rows", [0, PARALLEL_ROWS])
def test_work_begins_when_the_work_that_it_depends_on_is_done(rows: int) -> None:
    done: list[str] = []
    one, other, both = (partial(done.append, name) for name in ("one", "other", "both"))
    run_parallel([both, one, other], rows, {both: [one, other]})
    assert done[-1] == "both"
    assert sorted(done) == ["both", "one", "other"]


def test_work_does_not_wait_for_work_that_it_does_not_depend_on() -> None:
    dependent_begun, waited = threading.Event(), list[bool]()
    quick: Work = partial(int)

    def slow() -> None:
        waited.append(dependent_begun.wait(PATIENCE_SECONDS))

    work = [slow, quick, dependent_begun.set]
    run_parallel(work, PARALLEL_ROWS, {dependent_begun.set: [quick]}, threads=2)
    assert waited == [True], "the dependent work did not begin while other work was running"


@pytest.mark.parametrize("rows", [0, PARALLEL_ROWS])
def test_an_error_of_the_work_is_raised(rows: int) -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        run_parallel([fail, lambda: None], rows)
