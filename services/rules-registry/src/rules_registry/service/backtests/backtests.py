"""Asking for a backtest, and for its end. Each is one transaction of the log, with an entry of the trail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Happening, Subject
from rules_registry.domain.backtests.backtest import (
    AS_IT_WAS,
    DAY_MS,
    Backtest,
    Knowledge,
    Tried,
    Wanted,
    numbered,
    require_span,
)
from rules_registry.domain.backtests.backtest_bounds import BacktestBounds
from rules_registry.domain.backtests.errors import BacktestNotFound, NobodyRunsBacktests, NoRules
from rules_registry.errors import QuotaExceeded
from rules_registry.service.audit_writer import tell
from rules_registry.service.event_appender import EventAppender
from rules_registry.service.ports import Answer, Log
from rules_registry.service.registry import Registry, Repeatable
from tripline_contracts.rules.rule_definition import RuleDefinition

MAX_OPEN: Final = 20
"""Backtests that wait, or are under way."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A span (ms), and the rules, or all that are active; `draft` is the definition among them that nobody has
    published."""

    first: int
    until: int
    rules: tuple[Tried, ...] | None
    draft: RuleDefinition | None = None
    knowledge: Knowledge = AS_IT_WAS


@dataclass(frozen=True, slots=True)
class Backtests:
    """The use cases."""

    registry: Registry
    bounds: BacktestBounds

    def ask(
        self,
        actor: Actor,
        asked: Asked,
        answer: Callable[[Backtest], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new one, which waits for its turn. Raises `NobodyRunsBacktests`, `UnfitSpan`, `NoRules`, `UnknownNames`
        and `QuotaExceeded`."""
        if not self.bounds.connected:
            raise NobodyRunsBacktests
        require_span(asked.first, asked.until, self.bounds.days)
        return self.registry.answered(actor, lambda log: self._add(log, actor, asked), answer, repeatable)

    def cancel(self, actor: Actor, backtest_id: int) -> Backtest:
        """The backtest ends: at once, or when whoever runs it has been told. Raises `BacktestNotFound` and
        `IllegalStep`."""
        with self.registry.store.writing() as log:
            before = log.backtests.get(backtest_id)
            if before is None:
                raise BacktestNotFound(backtest_id)
            now = self.registry.clock()
            after = before.cancelled_by_wish(now, self.expires_at(now))
            if after.state != before.state:
                log.backtests.keep(after, before)
                self._tell(log, "BacktestCancelled", actor, after, now)
        return after

    def expires_at(self, ended_at: int) -> int:
        """When the result of a backtest that ended then is deleted (ms)."""
        return ended_at + self.bounds.kept_days * DAY_MS

    def _add(self, log: Log, actor: Actor, asked: Asked) -> Backtest:
        if asked.draft is not None:
            EventAppender(log, actor, self.registry.clock, self.registry.new_id).require_fit(asked.draft)
        rules = numbered(_active(log) if asked.rules is None else asked.rules)
        if not rules:
            raise NoRules("There is no active rule that could be tried.")
        is_open = log.backtests.count_open()
        if is_open >= MAX_OPEN:
            raise QuotaExceeded("backtests", "open backtests", is_open + 1, MAX_OPEN)
        now = self.registry.clock()
        wanted = Wanted(asked.first, asked.until, rules, asked.knowledge)
        backtest = log.backtests.add(wanted, self.registry.new_id(), actor.name, now)
        self._tell(log, "BacktestRequested", actor, backtest, now)
        return backtest

    def _tell(self, log: Log, kind: str, actor: Actor, backtest: Backtest, now_ms: int) -> None:
        subject = Subject("backtest", str(backtest.backtest_id))
        tell(log, Happening(kind, now_ms, actor, subject, None, None, _told(backtest)))


def _active(log: Log) -> list[Tried]:
    return [
        Tried(rule.name, rule.definition.to_json(), rule.rule_id, rule.version, rule.rule_id)
        for rule in log.rules()
        if rule.state == "ACTIVE"
    ]


def _told(backtest: Backtest) -> dict[str, Any]:
    wanted = backtest.wanted
    rules = [{"name": rule.name, "ruleId": rule.rule_id, "version": rule.version} for rule in wanted.rules]
    return {
        "state": backtest.state,
        "from": wanted.first,
        "to": wanted.until,
        "knowledge": wanted.knowledge,
        "rules": rules,
    }
