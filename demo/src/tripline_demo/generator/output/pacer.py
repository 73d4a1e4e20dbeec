"""The pacer: transactions that are due now, and the rate that was really achieved."""

from __future__ import annotations

from collections import deque
from typing import Final

_MAX_DEBT_SECONDS: Final = 1.0


class Pace:
    """Counts what is due at a rate. A stall is made good for at most one second: no flood follows a pause."""

    def __init__(self, rate: int, now: float) -> None:
        """`rate` a second; `now` in seconds on a steady clock."""
        self._rate = rate
        self._since = now
        self._taken = 0

    def take(self, now: float, most: int) -> int:
        """The number of transactions to send at `now`, at most `most`; they count as sent."""
        owed = int((now - self._since) * self._rate) - self._taken
        if owed > self._rate * _MAX_DEBT_SECONDS:
            self._since, self._taken = now - _MAX_DEBT_SECONDS, 0
            owed = int(self._rate * _MAX_DEBT_SECONDS)
        count = max(0, min(owed, most))
        self._taken += count
        return count


class Meter:
    """The achieved rate over the last few seconds."""

    def __init__(self, span: float = 5.0) -> None:
        self._span = span
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, now: float, total: int) -> None:
        """Notes the running total at `now` (seconds, steady); more than ten a second are thinned out."""
        if self._marks and now - self._marks[-1][0] < 0.1:
            return
        self._marks.append((now, total))
        while now - self._marks[0][0] > self._span:
            self._marks.popleft()

    def rate(self, now: float, total: int) -> float:
        """Per second, over the span or as much of it as is known."""
        recent = [mark for mark in tuple(self._marks) if now - mark[0] <= self._span]
        if not recent or now - recent[0][0] <= 0:
            return 0.0
        return (total - recent[0][1]) / (now - recent[0][0])
