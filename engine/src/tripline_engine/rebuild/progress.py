"""How far a rebuild is, in the log every few seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

_log = structlog.get_logger(__name__)
_SECONDS: Final = 5.0


@dataclass(slots=True)
class Progress:
    """Counts micro-batches and transactions. `elapsed` gives seconds on a clock that only grows.

    `of_batches` is how many there are, as far as that is known.
    """

    elapsed: Callable[[], float]
    of_batches: int
    batches: int = 0
    transactions: int = 0
    _begun: float = 0.0
    _told: float = 0.0
    _told_transactions: int = 0

    def __post_init__(self) -> None:
        self._begun = self._told = self.elapsed()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self.elapsed() - self._begun

    def batch_done(self, transactions: int) -> None:
        """One micro-batch more."""
        self.batches += 1
        self.transactions += transactions
        since = self.elapsed() - self._told
        if since >= _SECONDS:
            rate = (self.transactions - self._told_transactions) / since
            _log.info(
                "rebuilding", records=self.batches, of=self.of_batches, transactions=self.transactions,
                transactions_per_second=round(rate),
            )  # fmt: skip
            self._told, self._told_transactions = self.elapsed(), self.transactions
