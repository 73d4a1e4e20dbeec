"""The stream of card authorisations: transaction number n is a pure function of (seed, shape, n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.amounts import ordinary_cents
from tripline_demo.generator.authorisations.scenarios import (
    BY_NAME,
    CHIP,
    CONTACTLESS,
    NO_DEVICE,
    ONLINE,
    SCENARIOS,
    SWIPE,
    Crowd,
)
from tripline_demo.generator.chance import Indices, Integers, popular, shares
from tripline_demo.generator.shape import Kind, Made, Shape, fates, in_lane, place

CARDS: Final = 20_000
MERCHANTS: Final = 2_000

_MODES: Final = (CHIP, CONTACTLESS, ONLINE, SWIPE)
_UP_TO: Final = (0.35, 0.75, 0.96)
"""Shares of the entry modes, summed up: chip, contactless, online; the rest is swiped."""


@dataclass(frozen=True, slots=True)
class Authorisation(Made):
    """One authorisation of the stream; numbers of card, merchant and device (NO_DEVICE: none)."""

    card: int
    merchant: int
    device: int
    entry_mode: int
    cents: int


def authorisations(shape: Shape, start: int, count: int) -> list[Authorisation]:
    """Transactions number `start` to `start + count - 1`."""
    index = np.arange(start, start + count, dtype=np.uint64)
    crowd = Crowd(*shape.sizes)
    card = popular(shape.seed, 20, index, crowd.cards)
    merchant = popular(shape.seed, 21, index, crowd.merchants)
    entry_mode = _entry_modes(shape.seed, index)
    # a household of two cards has one device, and uses it online only
    device = np.where(entry_mode == ONLINE, (card + 1) // 2, NO_DEVICE)
    cents = ordinary_cents(shape.seed, 23, index)
    kind, age = fates(shape, index)
    for name in shape.scenarios:
        lane = in_lane(index, shape.period, place(SCENARIOS, name, shape.period))
        if lane.size:
            steps = BY_NAME[name].play(shape.seed, index[lane] // np.uint64(shape.period), crowd)
            card[lane], merchant[lane], device[lane] = steps.card, steps.merchant, steps.device
            entry_mode[lane], cents[lane] = steps.entry_mode, steps.cents
            # mischief takes from the background only: a scenario that loses a step would trip nothing
            kind[lane], age[lane] = Kind.PLAIN, 0
    columns = (index, age, kind, card, merchant, device, entry_mode, cents)
    return list(map(Authorisation, *(column.tolist() for column in columns)))


def _entry_modes(seed: int, index: Indices) -> Integers:
    drawn = np.searchsorted(np.array(_UP_TO), shares(seed, 22, index), side="right")
    modes: Integers = np.array(_MODES, np.int64)[drawn]
    return modes
