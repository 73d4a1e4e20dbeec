"""The budget of one proof: records that it may go through, and seconds that it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tripline_engine.prover.errors import TooMuch

_SHARE: Final = 20
"""Of what is read, the part that may be held in memory: its transactions stand in the arrays of a shard."""


@dataclass(slots=True)
class Budget:
    """Counts what a proof has gone through. `elapsed` gives seconds of a monotonic clock.

    :ivar most_records: transactions that are read at most
    :ivar read: transactions read so far
    :ivar selected: those among them that the proof is about
    """

    elapsed: Callable[[], float]
    most_records: int
    most_seconds: float
    read: int = 0
    selected: int = 0
    _started: float = 0.0

    def __post_init__(self) -> None:
        self._started = self.elapsed()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self.elapsed() - self._started

    def check(self) -> None:
        """Raises TooMuch when the time is over."""
        if self.seconds > self.most_seconds:
            raise TooMuch(
                f"the proof has taken {self.most_seconds:g} s and read {self.read} transactions, and is not done:"
                " TRIPLINE_PROVER_SECONDS sets how long it may take"
            )

    def take(self, read: int, selected: int) -> None:
        """Counts transactions. Raises TooMuch."""
        self.read += read
        self.selected += selected
        if self.read > self.most_records:
            raise TooMuch(
                f"the proof goes through more than {self.most_records} transactions:"
                " TRIPLINE_PROVER_TRANSACTIONS sets how many it may read"
            )
        if self.selected * _SHARE > self.most_records:
            raise TooMuch(
                f"the proof is about more than {self.most_records // _SHARE} transactions, those of one group and all"
                " that share its anchor: TRIPLINE_PROVER_TRANSACTIONS sets twenty times how many it may hold"
            )
        self.check()
