"""Scenarios: what a few cards, devices and merchants do so that the seeded rules trip, by accumulation.

Every scenario owns one lane of the stream: of each `period` authorisations one is its next step. Steps make episodes of
cards, devices or merchants that the background does not know. Only the last two steps of an episode are over a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Indices, Integers, between, beyond

SCENARIOS: Final = ("card-testing", "shared-device", "card-spree", "repeated-charges")
CHIP, CONTACTLESS, ONLINE, SWIPE = range(4)
NO_DEVICE: Final = 0


@dataclass(frozen=True, slots=True)
class Crowd:
    """Sizes of the background's populations: cards (1 to `cards`) and merchants (1 to `merchants`)."""

    cards: int
    merchants: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Columns, one entry per step: numbers of card, merchant and device (NO_DEVICE: none), entry mode, cents."""

    card: Integers
    merchant: Integers
    device: Integers
    entry_mode: Integers
    cents: Integers


@dataclass(frozen=True, slots=True)
class Scenario:
    """`length` steps make an episode; `play(seed, steps, crowd)` gives what happens at those step numbers."""

    length: int
    play: Callable[[int, Indices, Crowd], Steps]


def _all(step: Indices, value: int) -> Integers:
    return np.full(step.size, value, np.int64)


def _card_testing(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """Stolen cards, one after the other, are tried with tiny amounts at one merchant: COUNT by merchant, filtered."""
    episode = step // np.uint64(TESTING.length)
    return Steps(
        beyond(seed, 200, step, crowd.cards),
        beyond(seed, 201, episode, crowd.merchants),
        _all(step, NO_DEVICE),
        _all(step, ONLINE),
        between(seed, 202, step, 50, 2_00),
    )


def _shared_device(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """One device pays with card after card, at any merchant: COUNT_DISTINCT of cards by device."""
    episode = step // np.uint64(SHARED.length)
    return Steps(
        beyond(seed, 210, step, crowd.cards),
        between(seed, 211, step, 1, crowd.merchants),
        beyond(seed, 212, episode, crowd.cards),
        _all(step, ONLINE),
        between(seed, 213, step, 20_00, 200_00),
    )


def _card_spree(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """One card in a hurry at many merchants: COUNT and COUNT_DISTINCT of merchants by card, together."""
    episode = step // np.uint64(SPREE.length)
    return Steps(
        beyond(seed, 220, episode, crowd.cards),
        between(seed, 221, step, 1, crowd.merchants),
        _all(step, NO_DEVICE),
        _all(step, CONTACTLESS),
        between(seed, 222, step, 5_00, 50_00),
    )


def _repeated_charges(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """One card is charged medium amounts by one merchant, again and again: SUM by card and merchant."""
    episode = step // np.uint64(CHARGES.length)
    return Steps(
        beyond(seed, 230, episode, crowd.cards),
        beyond(seed, 231, episode, crowd.merchants),
        _all(step, NO_DEVICE),
        _all(step, SWIPE),
        between(seed, 232, step, 740_00, 800_00),
    )


TESTING: Final = Scenario(22, _card_testing)
SHARED: Final = Scenario(10, _shared_device)
SPREE: Final = Scenario(22, _card_spree)
CHARGES: Final = Scenario(12, _repeated_charges)
BY_NAME: Final = dict(zip(SCENARIOS, (TESTING, SHARED, SPREE, CHARGES), strict=True))
