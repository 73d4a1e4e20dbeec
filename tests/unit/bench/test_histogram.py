"""The histogram of latencies."""

from __future__ import annotations

from bench.figures.histogram import drawn


def test_each_value_is_in_its_step_and_steps_after_the_last_are_left_out() -> None:
    lines = drawn([10, 60, 70, 199.9, 240], steps=(50, 100, 200, 300, 400))
    assert [line.split("%")[0].strip() for line in lines] == [
        "<= 50 ms  20.0",
        "<= 100 ms  40.0",
        "<= 200 ms  20.0",
        "<= 300 ms  20.0",
    ]
    assert lines[1].count("█") == 2 * lines[0].count("█") == 60


def test_what_is_beyond_the_last_step_is_told_too() -> None:
    assert drawn([1, 5_000], steps=(50, 100))[-1].lstrip().startswith("> 100 ms  50.0%")


def test_nothing_draws_nothing() -> None:
    assert drawn([]) == []
