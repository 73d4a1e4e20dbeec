"""How a backtest went, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Knowledge = Literal["as-it-was", "today"]
"""What a backtest knows at each moment: what the engine knew then, or what is known today."""

Progressed = Callable[[int, int, int], None]
"""Told after each piece of work: work done, of how much, and the transactions judged."""


def not_told(_done: int, _of: int, _transactions: int) -> None:
    """Where nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a backtest read, and in which time."""

    engine: str
    batches: int
    transactions: int
    seconds: float
