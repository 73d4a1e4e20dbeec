"""Having estimates made for changes of rules, one at a time, while nobody waits for a backtest.

    waiting ──▶ running ──▶ done | failed
       ▲           │ somebody asks for a backtest, or whoever made it was started anew
       └───────────┘

Nothing is asked for: a change of a rule without an estimate of its revision is what asks. So no proposal, edit or
approval waits for one, or can fail for its sake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

import structlog

from rules_registry.domain.backtests.errors import RunnerAway, RunRefused
from rules_registry.domain.estimates.estimate import MAX_ATTEMPTS, Estimate, EstimateBounds, Wanted
from rules_registry.service.backtests.backtest_desk import RunStatus
from rules_registry.service.backtests.estimate_rows import EstimateRows
from rules_registry.service.ports import Clock

log = structlog.get_logger(__name__)

ACTUAL_INTERVAL_MS: Final = 60_000
USERS_FIRST: Final = "A backtest that somebody waits for goes first."
BEGINS_AGAIN: Final = "Whoever made it was started anew meanwhile: it begins again."


class EstimateRunner(Protocol):
    """Whoever makes estimates, by key. Raises `RunnerAway` and `RunRefused`."""

    def start_estimate(self, key: str, rule: Mapping[str, Any], bounds: EstimateBounds) -> None:
        """Begins one; one of that key is left as it is. The rule is a definition with `ruleId` and `name`."""

    def status(self, key: str) -> RunStatus | None:
        """How it stands; None where it is not known."""

    def end(self, key: str) -> None:
        """Ends it, and forgets it."""


class EstimateDesk:
    """Looks at the estimates when it is told to."""

    def __init__(
        self, bounds: EstimateBounds, runner: EstimateRunner, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self._bounds, self._runner, self._clock, self._new_id = bounds, runner, clock, new_id
        self._looked_at = 0

    def step(self, rows: EstimateRows, *, is_free: bool) -> None:
        """One look: what runs is followed, and where nothing runs the next one begins.

        :param is_free: whether no backtest is open: it goes first
        """
        runs = False
        for estimate, is_asked_for in rows.running():
            if not is_asked_for:
                if self._end(estimate):
                    rows.forget(estimate)
                continue
            now = self._followed(estimate) if is_free else self._put_off(estimate)
            self._keep(rows, estimate, now)
            runs = runs or now.state == "running"
        if is_free and not runs and self._bounds.days:
            wanted = rows.next_wanted(self._clock())
            if wanted is not None:
                self._keep(rows, wanted.estimate, self._begun(wanted))
        self._look_back(rows)

    def _look_back(self, rows: EstimateRows) -> None:
        now = self._clock()
        if now - self._looked_at >= ACTUAL_INTERVAL_MS:
            self._looked_at = now
            rows.keep_actual(now)

    def _keep(self, rows: EstimateRows, seen: Estimate, now: Estimate) -> None:
        if now != seen:
            rows.keep(now)
        if now.state != seen.state:
            log.info("estimate", change=seen.change_id, state=now.state, failure=now.failure)

    def _begun(self, wanted: Wanted) -> Estimate:
        estimate, key = wanted.estimate, self._new_id()
        rule = {**wanted.definition, "ruleId": wanted.rule_id, "name": wanted.name}
        try:
            self._runner.start_estimate(key, rule, self._bounds)
        except RunnerAway as error:
            return replace(estimate, note=str(error))
        except RunRefused as error:
            return self._failed(estimate, str(error))
        attempts, now = estimate.attempts + 1, self._clock()
        return replace(estimate, state="running", run_key=key, attempts=attempts, started_at=now, note=None)

    def _followed(self, estimate: Estimate) -> Estimate:
        key = estimate.run_key or ""
        try:
            status = self._runner.status(key)
            if status is None:
                return self._lost(estimate)
            if status.state == "running":
                return replace(estimate, note=None)
            self._runner.end(key)
        except RunnerAway as error:
            return replace(estimate, note=str(error))
        except RunRefused as error:
            return self._failed(estimate, str(error))
        if status.state == "done" and status.result is not None:
            return replace(
                estimate, state="done", ended_at=self._clock(), note=None, result=dict(status.result)
            )
        return self._failed(estimate, status.failure or "it was ended by whoever made it")

    def _put_off(self, estimate: Estimate) -> Estimate:
        """It begins anew later; that is none of the attempts that it has."""
        if not self._end(estimate):
            return estimate
        attempts = max(0, estimate.attempts - 1)
        return replace(estimate, state="waiting", run_key=None, attempts=attempts, note=USERS_FIRST)

    def _end(self, estimate: Estimate) -> bool:
        """Whether it does not run any more."""
        try:
            self._runner.end(estimate.run_key or "")
        except RunnerAway:
            return False
        except RunRefused as error:
            log.warning("estimate_not_ended", change=estimate.change_id, reason=str(error))
        return True

    def _lost(self, estimate: Estimate) -> Estimate:
        if estimate.attempts >= MAX_ATTEMPTS:
            return self._failed(estimate, f"whoever made it was started anew, {estimate.attempts} times")
        return replace(estimate, state="waiting", run_key=None, note=BEGINS_AGAIN)

    def _failed(self, estimate: Estimate, failure: str) -> Estimate:
        return replace(estimate, state="failed", ended_at=self._clock(), note=None, failure=failure)
