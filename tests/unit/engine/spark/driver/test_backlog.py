from __future__ import annotations

from tripline_engine.spark.driver.backlog import Backlog


def test_two_of_the_largest_micro_batches_are_a_long_backlog() -> None:
    backlog = Backlog(100)
    assert not backlog.is_long
    backlog.start_with(199)
    assert not backlog.is_long
    backlog.start_with(200)
    assert backlog.is_long


def test_it_has_caught_up_with_a_micro_batch_of_less_than_half() -> None:
    backlog = Backlog(100)
    backlog.start_with(1_000)
    for taken in (100, 100, 50):
        backlog.batch_done(taken)
        assert backlog.is_long
    backlog.batch_done(49)
    assert not backlog.is_long


def test_full_micro_batches_in_a_row_say_that_it_has_fallen_behind() -> None:
    backlog, far = Backlog(100), []
    for taken in (100, 94, 100, 99, 60, 49, 100):
        backlog.batch_done(taken)
        far.append(backlog.is_long)
    assert far == [False, False, False, True, True, False, False]
