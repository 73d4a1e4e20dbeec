"""Progress of a replay, logged every few seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

_log = structlog.get_logger(__name__)
_SECONDS: Final = 5.0


@dataclass(slots=True)
class Progress:
    """Counts micro-batches and transactions. `elapsed` gives seconds of a monotonic clock.

    `of_batches` is the number of recorded micro-batches, `event` what the log calls it.
    """

    elapsed: Callable[[], float]
    of_batches: int
    event: str = "rebuilding"
    batches: int = 0
    transactions: int = 0
    _started: float = 0.0
    _logged: float = 0.0
    _logged_transactions: int = 0

    def __post_init__(self) -> None:
        self._started = self._logged = self.elapsed()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self.elapsed() - self._started

    def batch_done(self, transactions: int) -> None:
        """Counts a micro-batch and its transactions."""
        self.batches += 1
        self.transactions += transactions
        interval = self.elapsed() - self._logged
        if interval >= _SECONDS:
            rate = (self.transactions - self._logged_transactions) / interval
            _log.info(
                self.event, records=self.batches, of=self.of_batches, transactions=self.transactions,
                transactions_per_second=round(rate),
            )  # fmt: skip
            self._logged, self._logged_transactions = self.elapsed(), self.transactions
