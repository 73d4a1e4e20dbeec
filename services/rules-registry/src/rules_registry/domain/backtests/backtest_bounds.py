"""What backtests may come to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BacktestBounds:
    """What backtests may come to.

    :ivar connected: whether there is anybody who runs them
    :ivar days: the longest span
    :ivar kept_days: for so long results are kept
    :ivar alerts: of so many alerts of one backtest each is kept; all are counted
    """

    connected: bool = False
    days: int = 92
    kept_days: int = 30
    alerts: int = 10_000
