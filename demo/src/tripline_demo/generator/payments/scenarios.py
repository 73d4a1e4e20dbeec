"""Scenarios: what a few accounts do so that the seeded rules trip, by accumulation.

Every scenario owns one lane: of each `period` transactions of the stream one is its next step. Steps make
episodes; each episode is played by accounts of its own, from beyond the background's population, so what they
accumulate is what the scenario sends. Only the last one to three payments of an episode are over a limit.

    lane of card-testing     ..c...........c...........c...........c....     one of `period` transactions
    steps and episodes         0           1    …     25 | 0 (next episode, another payee)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Indices, Integers, between, beyond

SCENARIOS: Final = ("repeated-payments", "payment-burst", "money-mule", "card-testing", "big-payment")
CASH: Final = 0
CARD: Final = 1


@dataclass(frozen=True, slots=True)
class People:
    """Sizes of the background's populations: payees (1 to `payees`) and beneficiaries (1 to `beneficiaries`)."""

    payees: int
    beneficiaries: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Columns, one entry per step: account numbers, CASH or CARD, amounts in cents."""

    payee: Integers
    beneficiary: Integers
    payment_type: Integers
    cents: Integers


@dataclass(frozen=True, slots=True)
class Scenario:
    """`length` steps make an episode; `play(seed, steps, people)` gives what happens at those step numbers."""

    length: int
    play: Callable[[int, Indices, People], Steps]


def _type(seed: int, purpose: int, step: Indices) -> Integers:
    return between(seed, purpose, step, CASH, CARD)


def _repeated_payments(seed: int, step: Indices, people: People) -> Steps:
    """One payer pays one beneficiary medium amounts, again and again: SUM by payee and beneficiary."""
    episode = step // np.uint64(REPEATED.length)
    return Steps(
        beyond(seed, 100, episode, people.payees),
        beyond(seed, 101, episode, people.beneficiaries),
        _type(seed, 102, step),
        between(seed, 103, step, 1500_00, 1800_00),
    )


def _payment_burst(seed: int, step: Indices, people: People) -> Steps:
    """One payer pays many, small, in a hurry: COUNT by payee."""
    episode = step // np.uint64(BURST.length)
    return Steps(
        beyond(seed, 110, episode, people.payees),
        between(seed, 111, step, 1, people.beneficiaries),
        _type(seed, 112, step),
        between(seed, 113, step, 20_00, 200_00),
    )


def _money_mule(seed: int, step: Indices, people: People) -> Steps:
    """Many ordinary payers pay one beneficiary: SUM by beneficiary."""
    episode = step // np.uint64(MULE.length)
    return Steps(
        between(seed, 120, step, 1, people.payees),
        beyond(seed, 121, episode, people.beneficiaries),
        _type(seed, 122, step),
        between(seed, 123, step, 1800_00, 2200_00),
    )


def _card_testing(seed: int, step: Indices, people: People) -> Steps:
    """One payer's card is tried with tiny amounts: COUNT by payee and payment type."""
    episode = step // np.uint64(TESTING.length)
    return Steps(
        beyond(seed, 130, episode, people.payees),
        between(seed, 131, step, 1, people.beneficiaries),
        np.full(step.size, CARD, np.int64),
        between(seed, 132, step, 50, 2_00),
    )


def _big_payment(seed: int, step: Indices, people: People) -> Steps:
    """A single payment above anything ordinary, and small ones by others between: MAX by payee."""
    cents = between(seed, 142, step, 10_500_00, 15_000_00)
    ordinary = step % np.uint64(BIG.length) != np.uint64(0)
    cents[ordinary] = between(seed, 143, step[ordinary], 5_00, 50_00)
    return Steps(
        beyond(seed, 140, step, people.payees),
        between(seed, 141, step, 1, people.beneficiaries),
        _type(seed, 144, step),
        cents,
    )


REPEATED: Final = Scenario(13, _repeated_payments)
BURST: Final = Scenario(33, _payment_burst)
MULE: Final = Scenario(21, _money_mule)
TESTING: Final = Scenario(26, _card_testing)
BIG: Final = Scenario(20, _big_payment)
BY_NAME: Final = dict(zip(SCENARIOS, (REPEATED, BURST, MULE, TESTING, BIG), strict=True))
