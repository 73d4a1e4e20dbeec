"""How far a job is, by what its tasks are at."""

from __future__ import annotations

import pytest

from tripline_engine.backtest.on_spark.course import READ, Course

JUDGED = 1_500


class Rig:
    """A course whose clock is set by hand."""

    def __init__(self, at_once: int) -> None:
        self.told: list[tuple[int, int, int]] = []
        self.now = 0.0
        self.course = Course(
            lambda *progress: self.told.append(progress), at_once, JUDGED, clock=lambda: self.now
        )

    def at(self, now: float, *tasks: tuple[int, int]) -> float | None:
        self.now = now
        self.course.tell(tasks)
        return self.course.seconds_left

    @property
    def done(self) -> int:
        return self.told[-1][0]


def test_nothing_is_said_of_the_time_before_the_first_task_is_finished() -> None:
    rig = Rig(2)
    assert rig.at(0) is None
    assert rig.at(1, (0, 10), (0, 4)) is None
    assert rig.done == 0


def test_reading_is_foretold_by_its_tasks_and_judging_by_reading() -> None:
    rig = Rig(2)
    rig.at(0, (0, 10), (0, 4))
    assert rig.at(4, (2, 10), (0, 4)) == pytest.approx(16 + 20 * JUDGED / READ)
    # half of the time of two more tasks
    assert rig.at(6, (2, 10), (0, 4)) == pytest.approx(14 + 20 * JUDGED / READ)
    assert rig.done == 300
    rig.at(20, (10, 10), (0, 4))
    assert rig.done == READ


def test_what_is_left_of_judging_falls_while_its_first_tasks_run() -> None:
    rig = Rig(2)
    rig.at(0, (0, 10), (0, 4))
    rig.at(20, (10, 10), (0, 4))
    whole = 20 * JUDGED / READ
    told = [rig.at(20 + seconds, (10, 10), (0, 4)) for seconds in range(1, 14)]
    assert told == [pytest.approx(whole - seconds) for seconds in range(1, 14)]
    assert rig.at(35, (10, 10), (2, 4)) == pytest.approx(15)
    assert rig.at(45, (10, 10), (2, 4)) == pytest.approx(5)


def test_of_shards_that_end_apart_the_first_one_that_does_tells_the_time() -> None:
    rig, ends = Rig(2), (30, 40, 60, 75)
    rig.at(0, (0, 10), (0, 4))
    rig.at(10, (10, 10), (0, 4))
    for seconds in range(1, 75):
        left = rig.at(10 + seconds, (10, 10), (sum(end <= seconds for end in ends), 4))
        if seconds >= ends[0]:
            assert left == pytest.approx(75 - seconds, abs=16), seconds


def test_tasks_that_take_longer_than_foretold_have_nearly_as_much_before_them() -> None:
    rig = Rig(2)
    rig.at(0, (0, 10), (0, 4))
    rig.at(20, (10, 10), (0, 4))
    # two waves, of which the first has taken a hundred seconds at least
    assert rig.at(120, (10, 10), (0, 4)) == pytest.approx(100, rel=0.06)
    assert rig.done < READ + JUDGED
    assert [of for _, of, _ in rig.told] == [READ + JUDGED] * len(rig.told)


def test_it_never_goes_back() -> None:
    rig = Rig(3)
    for now, tasks in enumerate([(0, 9), (1, 9), (1, 9), (2, 9), (2, 9), (9, 9)]):
        rig.at(now, tasks, (0, 3))
    for now in range(6, 30):
        rig.at(now, (9, 9), (int(now > 20), 3))
    rig.at(31)
    done = [one for one, _, _ in rig.told]
    assert done == sorted(done)
    assert done[-1] > READ
