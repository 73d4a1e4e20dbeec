"""Jobs, and a prover that dies, is busy, is away, or refuses: each backtest ends once, and says how."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.backtests.backtest import DAY_MS, Backtest, Tried, Wanted, numbered
from rules_registry.domain.backtests.backtest_bounds import BacktestBounds
from rules_registry.domain.backtests.errors import (
    BacktestNotFound,
    NobodyRunsBacktests,
    NoRules,
    RunnerAway,
    RunRefused,
    UnfitSpan,
)
from rules_registry.errors import IllegalStep, QuotaExceeded
from rules_registry.service.backtests.backtest_desk import BacktestDesk, Labels, RunStatus
from rules_registry.service.backtests.backtests import MAX_OPEN, Asked, Backtests
from rules_registry.service.ports import Answer
from tests.unit.rules_registry.support.fake_backtests import FakeBacktests
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW

ADA = Actor("ada", reason="before it is published")
DRAFT = Tried("sums", {"limit": "5"}, beside=7)
ASKED = Asked(1_000, 9_000, (DRAFT,))
RUNNING = RunStatus("running", {"share": 0.25, "seconds": 30})


@dataclass
class FakeRunner:
    """Runs by key."""

    runs: dict[str, RunStatus] = field(default_factory=dict)
    trouble: Exception | None = None
    kept: int = 0
    started: list[tuple[Wanted, Labels, int]] = field(default_factory=list)

    def start(self, key: str, wanted: Wanted, labels: Labels, most_alerts: int) -> None:
        self._say()
        self.started.append((wanted, labels, most_alerts))
        self.runs[key] = RUNNING

    def status(self, key: str) -> RunStatus | None:
        self._say()
        return self.runs.get(key)

    def alerts(self, key: str, after: int, limit: int) -> Sequence[Mapping[str, Any]]:
        assert key in self.runs
        return [{"n": n} for n in range(after, min(self.kept, after + limit))]

    def end(self, key: str) -> None:
        self._say()
        self.runs.pop(key, None)

    def _say(self) -> None:
        if self.trouble is not None:
            raise self.trouble


@dataclass
class FakeTurns:
    """The jobs of the log."""

    store: FakeStore
    alerts: list[tuple[int, int]] = field(default_factory=list)
    others: bool = False
    estimates: Any = None

    @property
    def jobs(self) -> FakeBacktests:
        return self.store.log.backtests

    @contextmanager
    def turn(self) -> Iterator[FakeTurns | None]:
        yield None if self.others else self

    def delete_expired(self, now_ms: int) -> int:
        gone = [key for key, job in self.jobs.kept.items() if (job.expires_at or now_ms + 1) <= now_ms]
        for key in gone:
            del self.jobs.kept[key]
        return len(gone)

    def open(self) -> list[Backtest]:
        return [job for job in self.jobs.kept.values() if job.is_open]

    def labels(self, first: int, until: int, most: int) -> Labels:
        assert (first, until, most > 1) == (1_000, 9_000, True)
        return [("t1", True)]

    def keep_alerts(self, backtest_id: int, after: int, alerts: Sequence[Mapping[str, Any]]) -> None:
        self.alerts += [(backtest_id, after + 1 + n) for n in range(len(alerts))]

    def keep(self, backtest: Backtest, seen: Backtest) -> None:
        self.jobs.keep(backtest, seen)


class Scene:
    """Backtests, and a desk that looks when it is told to."""

    def __init__(self, **bounds: Any) -> None:
        self.store, self.runner, self.now = FakeStore(), FakeRunner(), NOW
        self.backtests = Backtests(new_registry(self.store), BacktestBounds(**{"connected": True, **bounds}))
        self.turns = FakeTurns(self.store)
        self.desk = BacktestDesk(self.backtests, self.turns, self.runner, lambda: self.now, threading.Event())

    def ask(self, asked: Asked = ASKED) -> int:
        answer = self.backtests.ask(ADA, asked, lambda job: Answer(202, {}, {"id": job.backtest_id}))
        return int(answer.body["id"])

    def job(self, backtest_id: int = 1) -> Backtest:
        job = self.store.log.backtests.get(backtest_id)
        assert job is not None
        return job


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_one_after_the_other(scene: Scene) -> None:
    scene.ask()
    scene.ask()
    assert scene.job().state == "queued"
    scene.desk.step()
    assert (scene.job().state, scene.job(2).state, scene.job().started_at) == ("running", "queued", NOW)
    [(wanted, labels, most)] = scene.runner.started
    assert (wanted.rules[0].beside, labels, most) == (7, [("t1", True)], 10_000)
    scene.desk.step()
    assert scene.job().seconds_left() == 90
    scene.runner.kept = 2_500
    scene.runner.runs[scene.job().run_key] = replace(RUNNING, state="done", result={"rules": []})
    scene.now += 60_000
    scene.desk.step()
    done = scene.job()
    assert (done.state, done.result, done.ended_at) == (
        "done",
        {"rules": [], "keptAlerts": 2_500},
        NOW + 60_000,
    )
    assert scene.turns.alerts == [(1, number) for number in range(1, 2_501)]
    assert scene.runner.runs == {}, "what is fetched is forgotten there"
    scene.desk.step()
    assert scene.job(2).state == "running"
    scene.now += 30 * DAY_MS
    scene.desk.step()
    assert list(scene.store.log.backtests.kept) == [2], "results expire"


def test_one_that_waits_is_cancelled_at_once_one_that_runs_at_the_next_look(scene: Scene) -> None:
    scene.ask()
    scene.ask()
    scene.desk.step()
    assert scene.backtests.cancel(ADA, 2).state == "cancelled"
    assert scene.backtests.cancel(ADA, 1).state == "cancelling"
    assert scene.backtests.cancel(ADA, 1).state == "cancelling", "the same again is the same"
    scene.desk.step()
    assert (scene.job().state, scene.runner.runs) == ("cancelled", {})
    with pytest.raises(IllegalStep):
        scene.backtests.cancel(ADA, 1)
    with pytest.raises(BacktestNotFound):
        scene.backtests.cancel(ADA, 3)
    told = [entry.members() for entry in scene.store.log.audit]
    assert [entry["type"] for entry in told] == ["BacktestRequested"] * 2 + ["BacktestCancelled"] * 2
    assert {(entry["actor"], entry["reason"], entry["subject"]["kind"]) for entry in told} == {
        ("ada", "before it is published", "backtest")
    }


def test_a_prover_that_was_started_anew_begins_again_and_it_is_said(scene: Scene) -> None:
    scene.ask()
    for attempt in (1, 2, 3):
        scene.desk.step()
        assert (scene.job().state, scene.job().attempts) == ("running", attempt)
        scene.runner.runs.clear()
        scene.desk.step()
        if attempt < 3:
            assert scene.job().state == "queued"
            assert "it begins again" in (scene.job().note or "")
    assert scene.job().state == "failed"
    assert "3 times" in (scene.job().failure or "")


def test_a_prover_that_is_away_or_busy_is_waited_for(scene: Scene) -> None:
    scene.ask()
    scene.runner.trouble = RunnerAway("The prover does not answer.")
    scene.desk.step()
    assert (scene.job().state, scene.job().note) == ("queued", "The prover does not answer.")
    scene.runner.trouble = None
    scene.desk.step()
    assert (scene.job().state, scene.job().note) == ("running", None)
    scene.runner.trouble = RunnerAway("The prover does not answer.")
    scene.desk.step()
    assert scene.job().state == "running"


def test_what_the_prover_refuses_or_fails_at_has_failed(scene: Scene) -> None:
    scene.ask()
    scene.runner.trouble = RunRefused("rules: expected objects")
    scene.desk.step()
    assert (scene.job().state, scene.job().failure) == ("failed", "rules: expected objects")
    scene.runner.trouble = None
    scene.ask()
    scene.desk.step()
    scene.runner.runs[scene.job(2).run_key] = RunStatus("failed", {}, failure="there is no history")
    scene.desk.step()
    assert (scene.job(2).state, scene.job(2).failure) == ("failed", "there is no history")


def test_another_desk_has_its_turn(scene: Scene) -> None:
    scene.ask()
    scene.turns.others = True
    scene.desk.step()
    assert scene.job().state == "queued"


def test_what_is_refused() -> None:
    with pytest.raises(NobodyRunsBacktests):
        Scene(connected=False).ask()
    scene = Scene(days=1)
    for until in (1_000, 1_001 + DAY_MS):
        with pytest.raises(UnfitSpan):
            scene.ask(replace(ASKED, until=until))
    with pytest.raises(NoRules):
        scene.ask(Asked(1_000, 9_000, None))
    for _ in range(MAX_OPEN):
        scene.ask()
    with pytest.raises(QuotaExceeded):
        scene.ask()


def test_ids_are_the_rules_own_where_they_can_be() -> None:
    rules = numbered([Tried("a", {}, 7), Tried("draft", {}), Tried("b", {}, 7), Tried("c", {}, 9)])
    assert [rule.tried_id for rule in rules] == [7, 10, 11, 9]
