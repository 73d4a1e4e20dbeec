"""Backtests in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_registry.domain.backtests.backtest import Backtest, Wanted


@dataclass
class FakeBacktests:
    """Backtests by id."""

    kept: dict[int, Backtest] = field(default_factory=dict)

    def add(self, wanted: Wanted, run_key: str, requested_by: str, now_ms: int) -> Backtest:
        backtest = Backtest(len(self.kept) + 1, run_key, wanted, requested_by, now_ms)
        self.kept[backtest.backtest_id] = backtest
        return backtest

    def get(self, backtest_id: int) -> Backtest | None:
        return self.kept.get(backtest_id)

    def count_open(self) -> int:
        return sum(backtest.is_open for backtest in self.kept.values())

    def keep(self, backtest: Backtest, seen: Backtest) -> None:
        if self.kept[backtest.backtest_id].state == seen.state:
            self.kept[backtest.backtest_id] = backtest
