"""Having backtests run, one at a time: the jobs are ours, and a prover does the work.

    queued ──start──▶ running ──▶ done | failed          cancelling ──▶ cancelled
       ▲                 │ the prover does not know it: it was started anew
       └─────────────────┘ (three times at most)

Any number of desks may look: the database lets one at a time. A registry that is started anew finds its job running.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol

import structlog

from rules_registry.domain.backtests.backtest import MAX_ATTEMPTS, Backtest, Wanted
from rules_registry.domain.backtests.errors import RunnerAway, RunRefused
from rules_registry.errors import ConcurrentChange, StoreUnavailable
from rules_registry.service.backtests.backtests import Backtests
from rules_registry.service.backtests.estimate_rows import EstimateRows
from rules_registry.service.ports import Clock

log = structlog.get_logger(__name__)

INTERVAL_SECONDS: Final = 0.5
ALERTS_AT_ONCE: Final = 1_000
MOST_LABELS: Final = 100_000
Labels = Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How a run stands; `result` when it is done, `failure` when it failed."""

    state: Literal["running", "done", "failed", "cancelled"]
    progress: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    failure: str | None = None


class Runner(Protocol):
    """Whoever runs backtests, by key. Raises `RunnerAway` and `RunRefused`."""

    def start(self, key: str, wanted: Wanted, labels: Labels, most_alerts: int) -> None:
        """Begins a run; one of that key is left as it is."""

    def status(self, key: str) -> RunStatus | None:
        """How the run stands; None where it is not known."""

    def alerts(self, key: str, after: int, limit: int) -> Sequence[Mapping[str, Any]]:
        """Alerts of a run that is done, after so many."""

    def end(self, key: str) -> None:
        """Ends a run, and forgets it."""


class Turn(Protocol):
    """One look at the jobs, by one desk."""

    @property
    def estimates(self) -> EstimateRows:
        """Estimates of changes."""

    def delete_expired(self, now_ms: int) -> int:
        """Deletes results whose time is over; how many."""

    def open(self) -> Sequence[Backtest]:
        """All that are not ended, oldest first."""

    def labels(self, first: int, until: int, most: int) -> Labels:
        """Transactions of the span (ms) that people have decided on, and whether they were fraud."""

    def keep_alerts(self, backtest_id: int, after: int, alerts: Sequence[Mapping[str, Any]]) -> None:
        """Keeps alerts, numbered from `after` + 1 on."""

    def keep(self, backtest: Backtest, seen: Backtest) -> None:
        """Writes it, if it is in the state that was seen."""


class DeskStore(Protocol):
    """The jobs."""

    def turn(self) -> AbstractContextManager[Turn | None]:
        """A transaction; None while another desk has one."""


class Beside(Protocol):
    """Somebody who has the same runner do other things, while no backtest is open."""

    def step(self, rows: EstimateRows, *, is_free: bool) -> None:
        """One look; without `is_free` nothing of theirs runs afterwards, as far as the runner answers."""


class BacktestDesk:
    """Looks at the jobs until stopped."""

    def __init__(
        self,
        backtests: Backtests,
        store: DeskStore,
        runner: Runner,
        clock: Clock,
        stop: threading.Event,
        beside: Beside | None = None,
    ) -> None:
        self._backtests, self._store, self._runner = backtests, store, runner
        self._clock, self._stop, self._beside = clock, stop, beside

    def run(self) -> None:
        """Until stopped."""
        while not self._stop.wait(INTERVAL_SECONDS):
            try:
                self.step()
            except (StoreUnavailable, ConcurrentChange) as error:
                log.warning("backtests_not_looked_at", reason=str(error))

    def step(self) -> None:
        """One look: what has expired goes, what runs is followed, and where nothing runs the next one begins."""
        with self._store.turn() as turn:
            if turn is None:
                return
            turn.delete_expired(self._clock())
            jobs = turn.open()
            running = [job for job in jobs if job.state != "queued"]
            for job in running:
                self._keep(turn, job, self._followed(turn, job))
            if self._beside is not None:
                self._beside.step(turn.estimates, is_free=not jobs)
            waiting = [job for job in jobs if job.state == "queued"]
            if waiting and not running:
                self._keep(turn, waiting[0], self._begun(turn, waiting[0]))

    def _keep(self, turn: Turn, seen: Backtest, now: Backtest) -> None:
        if now != seen:
            turn.keep(now, seen)
        if now.state != seen.state:
            log.info("backtest", backtest=seen.backtest_id, state=now.state, failure=now.failure)

    def _begun(self, turn: Turn, job: Backtest) -> Backtest:
        wanted = job.wanted
        try:
            labels = turn.labels(wanted.first, wanted.until, MOST_LABELS)
            self._runner.start(job.run_key, wanted, labels, self._backtests.bounds.alerts)
        except RunnerAway as error:
            return replace(job, note=str(error))
        except RunRefused as error:
            return self._ended(replace(job, state="failed", failure=str(error)))
        started = job.started_at or self._clock()
        note = job.note if job.attempts else None
        return replace(job, state="running", attempts=job.attempts + 1, started_at=started, note=note)

    def _followed(self, turn: Turn, job: Backtest) -> Backtest:
        try:
            if job.state == "cancelling":
                self._runner.end(job.run_key)
                return self._ended(replace(job, state="cancelled"))
            status = self._runner.status(job.run_key)
            if status is None:
                return self._lost(job)
            job = replace(job, progress=status.progress)
            if status.state == "running":
                return job
            if status.state == "done":
                kept = self._fetch(turn, job)
                job = replace(job, state="done", result={**(status.result or {}), "keptAlerts": kept})
            else:
                failure = status.failure or "it was ended by whoever ran it"
                job = replace(job, state="failed", failure=failure)
            self._runner.end(job.run_key)
        except RunnerAway as error:
            return replace(job, note=str(error))
        except RunRefused as error:
            job = replace(job, state="failed", failure=str(error))
        return self._ended(job)

    def _fetch(self, turn: Turn, job: Backtest) -> int:
        kept = 0
        while alerts := self._runner.alerts(job.run_key, kept, ALERTS_AT_ONCE):
            turn.keep_alerts(job.backtest_id, kept, alerts)
            kept += len(alerts)
        return kept

    def _lost(self, job: Backtest) -> Backtest:
        if job.attempts >= MAX_ATTEMPTS:
            failure = f"whoever ran it was started anew, {job.attempts} times"
            return self._ended(replace(job, state="failed", failure=failure))
        note = "Whoever ran it was started anew meanwhile: it begins again."
        return replace(job, state="queued", progress={}, note=note)

    def _ended(self, job: Backtest) -> Backtest:
        now = self._clock()
        return replace(job, ended_at=now, expires_at=self._backtests.expires_at(now))
