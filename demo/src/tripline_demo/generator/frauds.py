"""Named frauds: short plays by accounts of their own, each of which trips a seeded rule by accumulation.

Unlike the lanes of the stream they are played once, when somebody asks. A play is a list of moments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Integers, between, bits
from tripline_demo.generator.shape import Made

DRIP_MS: Final = 560_000
"""How far back a slow drip begins: within the ten minutes that a transaction may be late."""

_FIRST_ACCOUNT: Final = 2_000_000_000
_ACCOUNTS: Final = 1_000_000_000
"""Beyond the accounts of the stream's scenarios, and so many that a repeat within a window is a rarity."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One transaction of a play and when it is sent, in ms after the beginning."""

    after_ms: int
    made: Made


@dataclass(frozen=True, slots=True)
class Play:
    """A fraud ready to be played: what when, and by whom, by the event type's key fields; None where there are many."""

    cast: Mapping[str, str | None]
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Fraud:
    """`stage(seed, number)` gives play `number`, always the same for a seed."""

    name: str
    title: str
    description: str
    transactions: int
    seconds: int
    stage: Callable[[int, int], Play]


def account(seed: int, purpose: int, number: int) -> int:
    """The account of play `number` for that purpose."""
    chosen = bits(seed, purpose, np.array([number], np.uint64))[0] % np.uint64(_ACCOUNTS)
    return _FIRST_ACCOUNT + int(chosen)


def accounts(seed: int, purpose: int, number: int, count: int) -> list[int]:
    """As many accounts, each another one."""
    chosen = bits(seed, purpose, _steps(number, count)) % np.uint64(_ACCOUNTS)
    accounts: Integers = _FIRST_ACCOUNT + chosen.astype(np.int64)
    listed: list[int] = accounts.tolist()
    return listed


def cents(seed: int, number: int, count: int, low: int, high: int) -> list[int]:
    """As many amounts between the two."""
    amounts: list[int] = between(seed, 900, _steps(number, count), low, high).tolist()
    return amounts


def evenly(seconds: int, count: int) -> list[int]:
    """When each of so many moments is, in ms."""
    return [index * seconds * 1_000 // count for index in range(count)]


def drip_ages(count: int) -> list[int]:
    """The age of each transaction of a slow drip, in ms."""
    last = count - 1
    return [DRIP_MS * (last - index) // last for index in range(count)]


def _steps(number: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.arange(number * 1_000, number * 1_000 + count, dtype=np.uint64)
