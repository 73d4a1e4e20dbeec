"""What is refused about backtests, and what keeps them from being run."""

from __future__ import annotations

from rules_registry.errors import DomainError, RegistryError


class BacktestNotFound(DomainError):
    """There is no such backtest; it may have expired."""

    def __init__(self, backtest_id: int) -> None:
        super().__init__(f"There is no backtest {backtest_id}; results are deleted when they have expired.")


class UnfitSpan(DomainError):
    """The span cannot be tried; the text says why."""


class NoRules(DomainError):
    """There is nothing to be tried."""


class NobodyRunsBacktests(RegistryError):
    """This installation has no prover that the registry was told of."""

    def __init__(self) -> None:
        super().__init__("Backtests are not connected: TRIPLINE_PROVER_URL is not set.")


class RunnerAway(RegistryError):
    """Whoever runs backtests does not answer, or is busy; the text says which."""


class RunRefused(RegistryError):
    """Whoever runs backtests does not take this one; the text says why."""
