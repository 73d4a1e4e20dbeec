"""The world of one random history: its pace, its keys and its amounts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.oracle.generators.profile import Profile
from tests.oracle.values.decimals import SCALE
from tests.oracle.values.schema import LAST_TIME

_LARGEST = 10**24 - 1
_KEYS = ("25", "12", "99", "0", "-3", "007", "bank é", '"\\\n', "\U0001d4b3", "z" * 64)


@dataclass(frozen=True, slots=True)
class World:
    """`start` in ms since the epoch, `pace` the mean ms between records, amounts in millionths."""

    start: int
    pace: int
    transactions: int
    partitions: int
    payees: tuple[str, ...]
    beneficiaries: tuple[str, ...]
    amounts: tuple[int, ...]


def random_world(rng: Random, profile: Profile) -> World:
    """Draw one; every choice comes from `rng`."""
    pace = int(10 ** rng.uniform(1.5, 6.2))
    return World(
        start=_start(rng),
        pace=pace,
        transactions=profile.transactions,
        partitions=rng.randint(*profile.partitions),
        payees=tuple(rng.sample(_KEYS, rng.randint(*profile.keys))),
        beneficiaries=tuple(rng.sample(_KEYS, rng.randint(*profile.keys))),
        amounts=_amounts(rng),
    )


def _start(rng: Random) -> int:
    style = rng.random()
    if style < 0.03:
        return rng.randrange(1_000_000)
    if style < 0.05:
        return LAST_TIME - rng.randrange(100_000_000)
    return 1_700_000_000_000 + rng.randrange(10**11)


def _amounts(rng: Random) -> tuple[int, ...]:
    """A small pool, so that equal amounts, and sums that hit a limit exactly, are common."""
    small = [rng.randint(1, 500) * SCALE for _ in range(4)]
    cents = [rng.randint(1, 99_999) * SCALE // 100 for _ in range(3)]
    fine = [rng.randint(-5 * SCALE, 5 * SCALE) for _ in range(2)]
    words = [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, -(2**64), 1, -1]
    extremes = [_LARGEST, -_LARGEST, _LARGEST - rng.randrange(10**12), -(10**23), 10**23]
    style = rng.random()
    if style < 0.6:
        return (*small, *cents, *fine, 0, -small[0])
    if style < 0.75:
        return (*rng.sample(words, 5), *small[:2], 0)
    if style < 0.9:
        return (*rng.sample(extremes, 3), *rng.sample(words, 2), 0)
    return (*small, *rng.sample(words, 2), *rng.sample(extremes, 2), 0)
