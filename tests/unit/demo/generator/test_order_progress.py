from __future__ import annotations

from typing import Any

import pytest

from tripline_demo.generator.recordings.order_progress import OrderProgress


def order(engine: str, **until: int) -> dict[str, Any]:
    parts = [{"partition": int(name[1:]), "from": 0, "until": end} for name, end in until.items()]
    return {"engine": engine, "sequence": 0, "transactions": parts}


def test_it_is_complete_once_all_is_judged_and_over_with_the_next_micro_batch() -> None:
    progress = OrderProgress({0: 5, 1: 7})
    progress.see(order("a", p0=5))
    assert (progress.is_complete, progress.until) == (False, {0: 5})
    progress.see(order("a", p1=8))
    assert (progress.is_complete, progress.is_over, progress.until) == (True, False, {0: 5, 1: 8})
    progress.see(order("a"))
    assert progress.is_over


def test_engines_are_not_added_up() -> None:
    progress = OrderProgress({0: 5, 1: 7})
    progress.see(order("a", p0=5))
    progress.see(order("b", p1=8))
    assert (progress.is_complete, progress.until) == (False, {1: 8})
    progress.see(order("b", p0=6))
    progress.see(order("a", p1=7))
    assert (progress.is_complete, progress.is_over, progress.until) == (True, False, {0: 6, 1: 8})


def test_nothing_said_is_nothing_judged() -> None:
    assert OrderProgress({0: 1}).until == {}


@pytest.mark.parametrize("record", [{}, [], {"engine": "a"}, {"engine": "a", "transactions": 5}])
def test_what_is_no_order_is_refused(record: Any) -> None:
    with pytest.raises((KeyError, TypeError)):
        OrderProgress({}).see(record)
