"""Estimates beside backtests: one thing runs at a time, users go first, and each estimate ends once and says how."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rules_registry.domain.backtests.errors import RunnerAway, RunRefused
from rules_registry.domain.estimates.estimate import Estimate, EstimateBounds, Wanted
from rules_registry.service.backtests.backtest_desk import BacktestDesk
from rules_registry.service.backtests.estimate_desk import USERS_FIRST, EstimateDesk
from tests.unit.rules_registry.backtests.test_backtest_desk import RUNNING, FakeRunner, Scene
from tests.unit.rules_registry.support.samples import NOW

BOUNDS = EstimateBounds(days=7, transactions=5_000, seconds=60)


@dataclass
class FakeEstimates:
    """Changes of rules that ask for an estimate, by their revision, and estimates."""

    asked: dict[int, int] = field(default_factory=dict)
    kept: dict[int, Estimate] = field(default_factory=dict)
    looked_back: list[int] = field(default_factory=list)

    def running(self) -> Sequence[tuple[Estimate, bool]]:
        return [
            (one, self.asked.get(one.change_id) == one.revision)
            for one in self.kept.values()
            if one.state == "running"
        ]

    def next_wanted(self, now_ms: int) -> Wanted | None:
        assert now_ms >= NOW
        for change_id, revision in self.asked.items():
            estimate = self.kept.get(change_id)
            if estimate is None or estimate.revision != revision:
                return Wanted(Estimate(change_id, revision), 17, "sums", {"limit": "5"})
            if estimate.state == "waiting":
                return Wanted(estimate, 17, "sums", {"limit": "5"})
        return None

    def keep(self, estimate: Estimate) -> None:
        self.kept[estimate.change_id] = estimate

    def forget(self, estimate: Estimate) -> None:
        del self.kept[estimate.change_id]

    def keep_actual(self, now_ms: int) -> int:
        self.looked_back.append(now_ms)
        return 0


@dataclass
class Prover(FakeRunner):
    """Of which one thing is asked at a time."""

    estimated: list[tuple[Mapping[str, Any], EstimateBounds]] = field(default_factory=list)

    def start(self, key: str, *rest: Any) -> None:
        self._say()
        assert not self.runs, "two at a time"
        super().start(key, *rest)

    def start_estimate(self, key: str, rule: Mapping[str, Any], bounds: EstimateBounds) -> None:
        self._say()
        assert not self.runs, "two at a time"
        self.estimated.append((rule, bounds))
        self.runs[key] = RUNNING


class Beside(Scene):
    """The same with estimates; change 3 asks for one."""

    def __init__(self, bounds: EstimateBounds = BOUNDS) -> None:
        super().__init__()
        self.runner = self.prover = Prover()
        self.rows = self.turns.estimates = FakeEstimates({3: 1})
        keys = (f"key-{n}" for n in range(100))
        desk = EstimateDesk(bounds, self.prover, lambda: self.now, lambda: next(keys))
        self.desk = BacktestDesk(
            self.backtests, self.turns, self.prover, lambda: self.now, threading.Event(), desk
        )

    def steps(self, **become: Any) -> Estimate:
        """After so much has become of what runs, one look: how change 3 stands."""
        for key in self.prover.runs:
            self.prover.runs[key] = replace(RUNNING, **become)
        self.desk.step()
        return self.rows.kept[3]


@pytest.fixture
def beside() -> Beside:
    return Beside()


def test_a_change_of_a_rule_has_one_made_without_anybody_asking(beside: Beside) -> None:
    running = beside.steps()
    assert (running.state, running.run_key, running.attempts) == ("running", "key-0", 1)
    assert beside.prover.estimated == [({"limit": "5", "ruleId": 17, "name": "sums"}, BOUNDS)]
    beside.now += 5_000
    done = beside.steps(state="done", result={"parts": 4})
    assert (done.state, done.result, done.ended_at) == ("done", {"parts": 4}, NOW + 5_000)
    assert beside.prover.runs == {}
    assert beside.steps() == done, "it is made once"


def test_a_later_revision_has_its_own_and_what_is_given_up_has_none(beside: Beside) -> None:
    beside.steps()
    beside.rows.asked[3] = 2
    again = beside.steps()
    assert (again.revision, again.state, list(beside.prover.runs)) == (2, "running", ["key-1"])
    beside.rows.asked.clear()
    beside.desk.step()
    assert (beside.rows.kept, beside.prover.runs) == ({}, {})


def test_users_go_first(beside: Beside) -> None:
    beside.steps()
    beside.ask()
    put_off = beside.steps()
    assert (put_off.state, put_off.note, put_off.attempts) == ("waiting", USERS_FIRST, 0)
    assert list(beside.prover.runs) == [beside.job().run_key]
    assert beside.steps().state == "waiting"
    assert beside.steps(state="done", result={"rules": []}).state == "waiting"
    assert beside.job().state == "done"
    again = beside.steps()
    assert (again.state, again.attempts, again.note) == ("running", 1, None)


def test_while_the_prover_is_away_it_waits_and_says_so(beside: Beside) -> None:
    beside.prover.trouble = RunnerAway("The prover does not answer.")
    waiting = beside.steps()
    assert (waiting.state, waiting.note) == ("waiting", "The prover does not answer.")
    beside.prover.trouble = None
    assert beside.steps().note is None
    beside.prover.trouble = RunnerAway("The prover does not answer.")
    assert (beside.steps().state, beside.steps().note) == ("running", "The prover does not answer.")
    beside.ask()
    assert beside.steps().state == "running", "nobody knows that it has ended"


def test_what_fails_says_why_and_is_not_tried_again(beside: Beside) -> None:
    beside.steps()
    failed = beside.steps(state="failed", failure="there is no history")
    assert (failed.state, failed.failure) == ("failed", "there is no history")
    assert beside.steps() == failed
    beside.rows.asked[3] = 2
    beside.prover.trouble = RunRefused("it is of another release")
    assert beside.steps().failure == "it is of another release"


def test_a_prover_that_was_started_anew_begins_again_three_times(beside: Beside) -> None:
    for attempt in (1, 2, 3):
        # one look sees that it is lost, and begins it anew
        assert beside.steps().attempts == attempt
        beside.prover.runs.clear()
    failed = beside.steps()
    assert (failed.state, failed.failure) == ("failed", "whoever made it was started anew, 3 times")


def test_none_are_made_where_none_are_wanted() -> None:
    beside = Beside(EstimateBounds(days=0))
    beside.desk.step()
    assert (beside.rows.kept, beside.prover.runs) == ({}, {})


def test_the_first_day_is_looked_at_once_a_minute(beside: Beside) -> None:
    for _ in range(3):
        beside.desk.step()
    beside.now += 60_000
    beside.desk.step()
    assert beside.rows.looked_back == [NOW, NOW + 60_000]
