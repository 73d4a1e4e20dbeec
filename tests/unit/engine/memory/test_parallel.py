from __future__ import annotations

import threading
from functools import partial

import pytest

from tripline_engine.domain.memory.parallel import run_parallel

MANY = 1_000_000


@pytest.mark.parametrize("rows", [0, MANY])
def test_all_of_it_is_done(rows: int) -> None:
    done: list[int] = []
    run_parallel([lambda: done.append(1), lambda: done.append(2), lambda: done.append(3)], rows)
    assert sorted(done) == [1, 2, 3]


def test_of_few_rows_one_thing_comes_after_the_other_in_this_thread() -> None:
    done: list[tuple[int, int]] = []
    run_parallel([lambda n=n: done.append((n, threading.get_ident())) for n in range(5)], 10)  # type: ignore[misc]
    assert done == [(n, threading.get_ident()) for n in range(5)]


def test_of_many_rows_two_things_are_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=30)
    run_parallel([lambda: both.wait(), lambda: both.wait()], MANY)  # noqa: PLW0108  # two things, not one


@pytest.mark.parametrize("rows", [0, MANY])
def test_what_comes_after_other_work_begins_when_that_is_done(rows: int) -> None:
    done: list[str] = []
    one, other, both = (partial(done.append, name) for name in ("one", "other", "both"))
    run_parallel([both, one, other], rows, {both: [one, other]})
    assert done[-1] == "both"
    assert sorted(done) == ["both", "one", "other"]


def test_nothing_waits_for_work_that_it_does_not_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    reached, found = threading.Event(), list[bool]()
    quick = partial(int)
    run_parallel([lambda: found.append(reached.wait(30)), quick, reached.set], MANY, {reached.set: [quick]})
    assert found == [True]


@pytest.mark.parametrize("rows", [0, MANY])
def test_what_fails_is_said(rows: int) -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        run_parallel([fail, lambda: None], rows)
